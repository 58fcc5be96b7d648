//! The syntax of case files: one statement per line; `#` begins a comment.
//!
//! ```text
//! digest weekly week mon 09:00 [ZONE] [spread=30m] [min_items=3] [choose=on+at]    day | weekday | week mon..sun | month 1..31 | 6h
//! type NAME [category=C] [urgent] [include_actor] [look_back=7d] [drop_if_seen=true]
//!      [inbox] [email:now] [email:first_event,2h[,earliest]] [email:cooldown,4m[,15m|none]]
//!      [email:leading,10m] [email:digest,weekly] [email:never] [email:POLICY@LANE#KEY^MAX_ITEMS~AFTER]
//! quiet CHANNEL 22:00-07:00[,mon+tue] | quiet CHANNEL none
//! allow CHANNEL @example.org,A | allow CHANNEL all
//! cap CHANNEL 24h 3 | uncap                    one more cap | none any more
//! keep 35d | default_tz ZONE
//! TIME digest … | TIME type … | TIME drop_type NAME | TIME keep …     the rules, changed so, from then on
//! TIME recipient ID [CHANNEL=A[,A]|none] [tz=Z] [lat=N lon=N] [state=S]
//!      [quiet=22:00-07:00[,mon+tue]|none|default] [quiet_on=C,C]    person ID …: with an address
//! TIME publish ID TYPE OBJECT [to=R,+R] [topics=T,T] [near=LAT,LON,KM] [everyone] [except=R,R] [actor=A]
//!      [channels=C,C] [deliver_at=TIME|delay=30m|deliver_local=2024-01-01T09:00] [expires_at=TIME] [key=K]
//!      (+R gives the recipient an address, and makes who is not there)
//! TIME subscribe R TOPIC | unsubscribe R TOPIC | object O [notifiable=B] | retract O | erase R
//! TIME seen R up_to=TIME|object=O|event=E | read … | cancel event=E|key=K | withdraw … | forget DATE
//! TIME preference R type=T|category=C|category=* CHANNEL|* never|immediate|default|digest:NAME
//! TIME preference R day=DIGEST * on=mon|on=15|default | preference R time=DIGEST * at=17:00|default
//! TIME flush R [channel=C] [lane=L] | pause CHANNEL | resume CHANNEL
//! TIME suppress CHANNEL ADDRESS [until=TIME] | unsuppress CHANNEL ADDRESS
//! TIME report CHANNEL ADDRESS of=TIME [reason=R | bounced | arrived | refused=PROVIDER | taken=PROVIDER]
//! tenants [make|refuse]                         tenants are on
//! TIME tenant T [replaces] [name=N] [tz=Z] [locale=L] [quiet=…] [quiet_on=C] [data={…}]
//!      [disabled|enabled] [prefer=SCOPE=NAME,CHANNEL,MODE … | prefer=none] | TIME tenant T deleted
//! TIME member T R | unmember T R | recipient R tenants=T,T|none
//! TIME … tenant=T     of that tenant: publish, subscribe, unsubscribe, preference, cancel, withdraw
//!                     in its view: seen, read, flush
//! TIME refused …                                the subject must refuse what follows
//! until TIME | only CHANNEL
//! = TIME RECIPIENT CHANNEL LANE [KEY] [tenant=T]: EVENT EVENT@TIME EVENT[reason,reason] -EVENT=skipped(seen)
//! books delivered=3 messages=1
//! inbox R [tenant=T] unseen=N unread=N [tenants=T:N/N,T:N/N]: EVENT+EVENT[@T][:seen|read|archived|snoozed] …
//! ```
//! A TIME is `HH:MM[:SS]` on Monday 2024-01-01, `MM-DDTHH:MM[:SS]` in 2024 (both UTC), or RFC 3339.

use std::collections::BTreeMap;

use tidings_core::model::{
    ALL_CATEGORIES, AddressReport, Audience, BatchKey, Cancelled, ChangedBy, ChannelAddress, Data,
    EMAIL_NO, GeoCircle, MarkKind, Marked, Mode, OwnHours, PauseSubject, PreferenceScope,
    ProviderHash, RecipientChange, RecipientState, SlotDay, SuppressedFor, SuppressionSource,
    Timed, View, WallTime, channel_no,
};
use tidings_core::rules::{Defaults, StoreRules};
use tidings_core::{Command, Day, Event, Object, Rules};

use super::{Case, Expected, ExpectedItem, ExpectedMessage};
use crate::subject::Step;
use rules::{quiet_hours, rule};
use words::{ReadResult, channels, duration, id, ids, number, pair, parsed, time};

mod rules;
mod tenants;
mod words;

/// Rules without types.
#[must_use]
pub fn empty_rules() -> Rules {
    Rules {
        limits: tidings_core::model::Limits::default(),
        presentation: Default::default(),
        caps: Vec::new(),
        resolver: None,
        feedback: Default::default(),
        defaults: Defaults::default(),
        categories: BTreeMap::new(),
        digests: BTreeMap::new(),
        types: BTreeMap::new(),
        store: StoreRules::default(),
        channels: BTreeMap::new(),
        ..Rules::default()
    }
}

/// Reads a case file.
///
/// # Errors
/// The number of the first faulty line and what is wrong with it.
pub fn parse(text: &str) -> Result<Case, String> {
    let mut case = Case {
        rules: empty_rules(),
        steps: Vec::new(),
        until: None,
        only: None,
        messages: Vec::new(),
        books: BTreeMap::new(),
        inboxes: Vec::new(),
    };
    let mut rules = empty_rules();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            statement(line, &mut case, &mut rules)
                .map_err(|fault| format!("line {}: {fault}", number + 1))?;
        }
    }
    Ok(case)
}

fn statement(line: &str, case: &mut Case, rules: &mut Rules) -> ReadResult<()> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["=", ..] => case.messages.push(expected_message(line)?),
        ["books", counters @ ..] => {
            for counter in counters {
                let (name, value) = pair(counter)?;
                case.books.insert(name.to_owned(), number(value)?);
            }
        }
        ["inbox", ..] => case.inboxes.push(tenants::expected_inbox(line)?),
        ["until", at] => case.until = Some(time(at)?),
        ["only", channel] => case.only = Some((*channel).to_owned()),
        [word, ..] if word.as_bytes()[0].is_ascii_digit() => {
            let at = time(word)?;
            let words = &words[1..];
            if rule(words, rules)? {
                let step = Step::Reconfigure(at, Box::new(rules.clone()));
                case.steps.push((step, Expected::Played));
            } else {
                let (words, expected) = match words {
                    ["refused", words @ ..] => (words, Expected::Refused),
                    _ => (words, Expected::Played),
                };
                let timed = Timed { at, command: command(words)? };
                case.steps.push((Step::Play(timed), expected));
            }
        }
        words => {
            if !rule(words, rules)? {
                return Err(format!("unknown statement {line}"));
            }
            case.rules = rules.clone();
        }
    }
    Ok(())
}

fn command(words: &[&str]) -> ReadResult<Command> {
    let (words, tenant) = tenants::split_tenant(words)?;
    let view = || tenant.clone().map_or(View::All, View::Of);
    Ok(match words.as_slice() {
        ["recipient", person, facets @ ..] => recipient(person, None, facets)?,
        ["person", person, facets @ ..] => {
            recipient(person, Some(format!("{person}@example.org")), facets)?
        }
        ["subscribe", person, topic] => {
            Command::Subscribe { recipient: id(person)?, topic: id(topic)?, tenant }
        }
        ["unsubscribe", person, topic] => {
            Command::Unsubscribe { recipient: id(person)?, topic: id(topic)?, tenant }
        }
        ["tenant", name, facets @ ..] => tenants::tenant(name, facets)?,
        ["member", of, person] => Command::Join { recipient: id(person)?, tenant: id(of)? },
        ["unmember", of, person] => Command::Leave { recipient: id(person)?, tenant: id(of)? },
        ["publish", event, kind, about, facets @ ..] => {
            let event = publish(event, kind, about, facets)?;
            Command::Publish(Box::new(Event { tenant, ..event }))
        }
        ["object", about, facets @ ..] => {
            let mut object = object(about)?;
            for facet in facets {
                match pair(facet)? {
                    ("notifiable", may) => object.notifiable = Some(parsed(may)?),
                    ("title", title) => object.title = Some(title.into()),
                    ("data", data) => object.data = Some(self::data(data)?),
                    _ => return Err(format!("unknown {facet}")),
                }
            }
            Command::Object(object)
        }
        ["retract", about] => Command::Retract { object: id(about)? },
        ["erase", person] => Command::Erase { recipient: id(person)? },
        [kind @ ("seen" | "read"), person, what] => {
            let what = match pair(what)? {
                ("up_to", until) => Marked::UpTo(time(until)?),
                ("object", about) => Marked::Object(id(about)?),
                ("event", event) => Marked::Event(id(event)?),
                _ => return Err(format!("unknown {what}")),
            };
            let kind = if *kind == "seen" { MarkKind::Seen } else { MarkKind::Read };
            Command::Mark { recipient: id(person)?, what, kind, view: view() }
        }
        ["suppress", channel, address, facets @ ..] => suppress(channel, address, facets)?,
        ["unsuppress", channel, address] => {
            Command::Unsuppress { address: channel_address(channel, address)? }
        }
        ["report", channel, address, facets @ ..] => report(channel, address, facets)?,
        ["pause", channel] => Command::Pause(PauseSubject::Channel((*channel).to_owned())),
        ["resume", channel] => Command::Resume(PauseSubject::Channel((*channel).to_owned())),
        [how @ ("cancel" | "withdraw"), what] => {
            let what = match pair(what)? {
                ("event", event) => Cancelled::Event(id(event)?),
                ("key", key) => Cancelled::Key(id(key)?),
                _ => return Err(format!("unknown {what}")),
            };
            match *how {
                "cancel" => Command::Cancel { what, tenant },
                _ => Command::Withdraw { what, tenant },
            }
        }
        ["preference", person, scope, channel, mode] => Command::Preference {
            recipient: id(person)?,
            scope: preference_scope(scope)?,
            channel: (*channel).to_owned(),
            mode: self::mode(mode)?,
            tenant,
            by: ChangedBy::Key,
        },
        ["flush", person, facets @ ..] => {
            let (mut channel, mut lane, mut key) = (None, None, None);
            for facet in facets {
                match pair(facet)? {
                    ("key", text) => key = BatchKey::new(text).ok(),
                    ("channel", name) => channel = Some(name.to_owned()),
                    ("lane", name) => lane = Some(name.to_owned()),
                    _ => return Err(format!("unknown {facet}")),
                }
            }
            Command::Flush { recipient: id(person)?, channel, lane, key, view: view() }
        }
        ["forget", date] => {
            Command::Forget { before: Day::parse(date).map_err(|fault| fault.to_string())? }
        }
        _ => return Err(format!("unknown command {words:?}")),
    })
}

fn mode(mode: &str) -> ReadResult<Mode> {
    Ok(match mode {
        "never" => Mode::Never,
        "immediate" => Mode::Immediate,
        "default" => Mode::Default,
        word if word.starts_with("on=") => {
            let day = word.trim_start_matches("on=");
            let week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
            let of_week = week.iter().position(|known| *known == day);
            Mode::Day(match of_week {
                Some(at) => SlotDay::Week(u8::try_from(at + 1).map_err(|fault| fault.to_string())?),
                None => SlotDay::Month(number(day)?),
            })
        }
        word if word.starts_with("at=") => {
            Mode::Time(rules::minute_of_day(word.trim_start_matches("at="))?)
        }
        digest => Mode::Digest(digest.strip_prefix("digest:").ok_or("mode")?.to_owned()),
    })
}

fn preference_scope(scope: &str) -> ReadResult<PreferenceScope> {
    Ok(match pair(scope)? {
        ("type", name) => PreferenceScope::Type(name.to_owned()),
        ("category", ALL_CATEGORIES) => PreferenceScope::AllCategories,
        ("category", name) => PreferenceScope::Category(name.to_owned()),
        ("topic", name) => PreferenceScope::Topic(id(name)?),
        ("object", name) => PreferenceScope::Object(id(name)?),
        ("day", name) => PreferenceScope::DigestDay(name.to_owned()),
        ("time", name) => PreferenceScope::DigestTime(name.to_owned()),
        _ => return Err(format!("unknown {scope}")),
    })
}

fn suppress(channel: &str, address: &str, facets: &[&str]) -> ReadResult<Command> {
    let (mut until, mut reason) = (None, SuppressedFor::Manual);
    for facet in facets {
        match pair(facet)? {
            ("until", at) => until = Some(time(at)?),
            ("reason", word) => {
                let known = SuppressedFor::ALL.into_iter().find(|known| known.word() == word);
                reason = known.ok_or_else(|| format!("unknown reason {word}"))?;
            }
            _ => return Err(format!("unknown {facet}")),
        }
    }
    Ok(Command::Suppress { address: channel_address(channel, address)?, reason, until })
}

fn report(channel: &str, address: &str, facets: &[&str]) -> ReadResult<Command> {
    let (mut report, mut at) = (AddressReport::OptedIn, None);
    for facet in facets {
        match facet.split_once('=') {
            None if *facet == "bounced" => {
                report = AddressReport::Bounced(SuppressionSource::Report);
            }
            None if *facet == "arrived" => {
                report = AddressReport::Arrived(SuppressionSource::Report);
            }
            Some(("reason", word)) => {
                let mut known = SuppressedFor::ALL.into_iter();
                let known = known.find(|reason| reason.word() == word);
                let reason = known.ok_or_else(|| format!("unknown {facet}"))?;
                report = AddressReport::Suppressed(reason);
            }
            Some(("refused", by)) => report = AddressReport::Bounced(provider(by)),
            Some(("taken", by)) => report = AddressReport::Arrived(provider(by)),
            Some(("of", instant)) => at = Some(time(instant)?),
            _ => return Err(format!("unknown {facet}")),
        }
    }
    Ok(Command::ReportAddress {
        address: channel_address(channel, address)?,
        report,
        at: at.ok_or("a report has an instant: of=TIME")?,
        recipient: None,
    })
}

fn provider(address: &str) -> SuppressionSource {
    SuppressionSource::Provider(ProviderHash::of(address))
}

fn channel_address(channel: &str, address: &str) -> ReadResult<ChannelAddress> {
    let number = channel_no(channel).ok_or_else(|| format!("unknown channel {channel}"))?;
    Ok(ChannelAddress::new(number, address))
}

fn recipient(person: &str, address: Option<String>, facets: &[&str]) -> ReadResult<Command> {
    Ok(Command::Recipient(Box::new(profile(person, address, facets)?)))
}

fn profile(person: &str, address: Option<String>, facets: &[&str]) -> ReadResult<RecipientChange> {
    let mut change = RecipientChange {
        addresses: address.map(|address| (EMAIL_NO, vec![address.into()])).into_iter().collect(),
        ..RecipientChange::nothing(id(person)?)
    };
    for facet in facets {
        match pair(facet)? {
            (channel, addresses) if channel_no(channel).is_some() => {
                let channel = channel_no(channel).ok_or("a channel")?;
                let all = addresses.split(',').filter(|address| *address != "none");
                change.addresses.insert(channel, all.map(Into::into).collect());
            }
            ("tz", tz) => change.tz = Some(Some(tz.to_owned())),
            ("lat", degrees) => change.lat = Some(Some(parsed(degrees)?)),
            ("lon", degrees) => change.lon = Some(Some(parsed(degrees)?)),
            ("state", "active") => change.state = Some(RecipientState::Active),
            ("state", "unconfirmed") => change.state = Some(RecipientState::Unconfirmed),
            ("state", "disabled") => change.state = Some(RecipientState::Disabled),
            ("data", data) => change.data = Some(Some(self::data(data)?)),
            ("tenants", "none") => change.tenants = Some(Vec::new()),
            ("tenants", names) => change.tenants = Some(ids(names)?),
            ("quiet", "default") => change.quiet_hours = Some(None),
            ("quiet", hours) => {
                let (hours, channels) = (quiet_hours(hours)?, None);
                change.quiet_hours = Some(Some(Box::new(OwnHours { hours, channels })));
            }
            ("quiet_on", names) => {
                if let Some(Some(own)) = &mut change.quiet_hours {
                    own.channels = Some(channels(names));
                }
            }
            _ => return Err(format!("unknown {facet}")),
        }
    }
    Ok(change)
}

fn publish(event: &str, kind: &str, about: &str, facets: &[&str]) -> ReadResult<Event> {
    let mut event = Event::new(id(event)?, id(kind)?, object(about)?, Audience::default());
    for facet in facets {
        if *facet == "everyone" {
            event.to.everyone = true;
            continue;
        }
        match pair(facet)? {
            ("to", names) => {
                for name in names.split(',') {
                    if let Some(made) = name.strip_prefix('+') {
                        let address = Some(format!("{made}@example.org"));
                        event.to.profiles.push(profile(made, address, &[])?);
                    }
                    event.to.recipients.push(id(name.trim_start_matches('+'))?);
                }
            }
            ("except", names) => event.to.except = ids(names)?.into_iter().collect(),
            ("topics", names) => event.to.topics = ids(names)?,
            ("near", circle) => {
                let circle = circle.split(',').map(parsed).collect::<ReadResult<Vec<f64>>>()?;
                let &[lat, lon, km] = circle.as_slice() else {
                    return Err("LAT,LON,KM".into());
                };
                event.to.near.push(GeoCircle { lat, lon, km });
            }
            ("actor", actor) => event.actor = Some(object(actor)?),
            ("target", target) => event.target = Some(object(target)?),
            ("data", data) => {
                event.data = Some(serde_json::from_str(data).map_err(|fault| fault.to_string())?);
            }
            ("body", body) => event.body = Some(body.into()),
            ("channels", names) => {
                event.channels = Some(names.split(',').map(str::to_owned).collect());
            }
            ("deliver_at", at) => event.deliver_at = Some(time(at)?),
            ("delay", wait) => event.delay_ms = Some(duration(wait)?),
            ("deliver_local", time) => {
                let time = WallTime::parse(time).ok_or("not a wall-clock time")?;
                event.deliver_local = Some(time);
            }
            ("expires_at", at) => event.expires_at = Some(time(at)?),
            ("key", key) => event.cancellation_key = Some(id(key)?),
            _ => return Err(format!("unknown {facet}")),
        }
    }
    Ok(event)
}

/// An object by its id, or by its id and its data: `ID+{…}`.
fn object(about: &str) -> ReadResult<Object> {
    let (about, given) = match about.split_once('+') {
        Some((about, given)) => (about, Some(data(given)?)),
        None => (about, None),
    };
    Ok(Object { data: given, ..Object::bare(id(about)?) })
}

fn data(text: &str) -> ReadResult<Data> {
    serde_json::from_str(text).map_err(|fault| fault.to_string())
}

fn expected_message(line: &str) -> ReadResult<ExpectedMessage> {
    let (head, tail) = line.split_once(": ").ok_or("a message tells something after `: `")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let (words, tenant) = tenants::split_tenant(&words)?;
    let (["=", at, recipient, channel, lane], key) = (match words[..] {
        [ref head @ .., key] if words.len() == 6 => (head, key),
        ref head => (head, ""),
    }) else {
        return Err("= TIME RECIPIENT CHANNEL LANE [KEY] [tenant=T]: …".to_owned());
    };
    let mut message = ExpectedMessage {
        at: time(at)?,
        lane: [*recipient, *channel, *lane].map(str::to_owned),
        key: key.to_owned(),
        tenant: tenant.map(|tenant| tenant.to_string()),
        items: Vec::new(),
        skipped: Vec::new(),
    };
    for word in tail.split_whitespace() {
        if let Some(skipped) = word.strip_prefix('-') {
            let (event, reason) = pair(skipped)?;
            message.skipped.push((event.to_owned(), reason.to_owned()));
            continue;
        }
        let (word, reasons) = match word.strip_suffix(']').and_then(|word| word.split_once('[')) {
            Some((word, reasons)) => (word, Some(reasons.split(',').map(str::to_owned).collect())),
            None => (word, None),
        };
        let (event, t) = match word.split_once('@') {
            Some((event, t)) => (event, Some(time(t)?)),
            None => (word, None),
        };
        message.items.push(ExpectedItem { event: event.to_owned(), t, reasons });
    }
    Ok(message)
}
