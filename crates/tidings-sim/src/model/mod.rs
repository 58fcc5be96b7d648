//! The naive model: a second implementation of the contract, in lists and loops.
//!
//! It exists to disagree with the engine. It shares nothing with it but the plain types of the core,
//! works out every deadline, slot and look in the one obvious way, and keeps every entry that ever
//! was, so that its books are counted by walking. Slow is fine here; clever is not.
//!
//! If the contract leaves two readings, this is the one taken:
//!
//! 1. What enters a lane after a flush at the same instant goes out with it: the lane goes out in the
//!    last phase, as with two `now` entries of one instant.
//! 2. A window keeps the rules under which it was opened: policy, `decide`, digest and the parameters
//!    of every type that had this lane and policy kind under them. A type that had not brings the
//!    parameters of the rules under which its entry joins; if its policy is of another kind (a lane of
//!    one's own whose kind the new configuration changed), it joins and moves nothing. A lane whose
//!    name stays is the same lane, whatever else changes.
//! 3. A change of `defaults.tz` is a change of zone for those who don't say; a change of a digest's own
//!    `tz` is a change of parameters.
//! 4. `immediate` on a type whose own policy is no digest is the type's own route, with its own lane;
//!    on a type whose own policy is `never` it is `never`.
//! 5. An urgent type whose digest has a lane of its own waits in the lane `now`.
//! 6. A preference for a digest that is no longer configured is as if it were not set.
//! 7. A type that no longer has a channel has `never` there: what waits ends at once as
//!    cancelled(preference). What waits of a type that is no longer configured stays in its lane, with
//!    its deadline, and ends as skipped(unknown_type) there; if it is scheduled, at its `t`.
//! 8. `never` while scheduled ends nothing before `t`, when preferences are read again.
//! 9. Parts of a mark that depend on the configuration (types that have an inbox: the channel is there
//!    and is not `never`) are read when the mark is made.
//! 10. Of an erased recipient nothing is kept: what waits stays in its lane with its deadline, whatever
//!     the configuration becomes; what is scheduled ends as cancelled(recipient_gone) at its `t`.
//!     Lanes that an unconfirmed recipient had overdue end at once when that recipient is erased or
//!     disabled.
//! 11. A name in `to` that nobody has is one warning however often it stands there; an audience that
//!     is empty without the actor is one more.
//!     An event with such a name of which nobody got an entry is no event any more: its id is free at once, and it is
//!     not cancelled by its key, but it stays counted. Profiles in `to` change where the event is accepted, before its audience.
//! 12. An event id used again after its day was forgotten: `cancel` and marks by event concern all of
//!     that id that still waits. `forget` concerns what is there when it is said.
//! 13. Without `until` the run ends as soon as no entry waits that could become due (a scheduled entry
//!     can, by its `t`); with it the clock runs to that instant, forgetting days on the way.
//! 14. `notifiable` in the object of a publish is not read: only an `object` command gives it. What a
//!     publish gives of its actor and its target lifts no retraction.
//!     An object has what `object` commands gave alone once the newest day that named or changed it is forgotten, and is
//!     unknown where that is nothing (an event names it on the day of its arrival, of its `t`, and of each move);
//!     retracting what is unknown does nothing. A field that an event gives another value is the event's from then on.
//!     A retraction takes back what `object` commands gave: all that is known goes with the newest day.
//! 15. A publish of a type that is not configured is refused; `erase` of somebody unknown does nothing.
//! 16. Zone changes at T: the next slot is strictly after T. A zone change moves nothing in a lane that
//!     was flushed or is overdue.
//! 17. A digest chosen for the inbox, which knows no digests, is `now`.
//! 18. What is paused: a channel holds its lanes as somebody unconfirmed does. Entries of a paused type
//!     (and, on the inbox, all while it is paused) go to a lane that is never due, as if everybody had
//!     chosen so; when they go on it is as if the choice were taken back. A type that is no longer
//!     configured is no longer paused: what was set apart ends at once as skipped(unknown_type).
//! 19. A batch key is an entry's for good: it is asked by the rules of the event's arrival, whatever they become.
//!     A lane with a key remembers its last message no longer than the longest `quiet` of the types that are
//!     `leading` in it: when the rules change, an older one is forgotten unless a window is open.
//! 20. A window is counted for `min_items` also while its channel is paused: it is held as that of somebody
//!     unconfirmed. What was counted is not counted again, whatever happens to it afterwards.
//! 21. A type is urgent for an entry as it was when the entry entered its lane. Pending is what has not ended:
//!     an urgent entry that is seen or retracted still lets its window pass quiet hours.
//! 22. A window that only quiet hours keep has no deadline that has passed: what enters joins, and moves it as
//!     ever. One that was held when its deadline (after quiet hours) passed keeps it, whatever hours come.
//! 23. Hours that end in other hours, where clocks change, end with the last of them. Who was erased has none.
//! 24. A channel's messages are counted from when it has caps, as far back and as many as these caps ask for: what
//!     other caps would have counted is not known when they come. Nothing is counted of who was erased, whom no
//!     cap keeps anything from.
//! 25. A closing that turns out to tell nothing has not counted: what it kept at its instant is due then.
//! 26. What waits keeps the reasons that it had when the event arrived, also if it is scheduled: a mute ends it if
//!     with all mutes of that channel none of those would remain, and takes none away otherwise. A mute on `*` is
//!     one on each channel.
//! 27. What was delivered while a type had `once_ever` is remembered by the `per` that it had then, and asked by the
//!     one that it has when an event arrives. What is pending is asked by the latter alone.
//! 28. How much later a channel comes is an entry's for good, by the rules of its arrival. Whether it is asked who has
//!     seen the event in the inbox is read of the rules in force, of whatever enters a lane or is looked at then.
//! 29. What an inbox was told is seen by any mark that says so, whether or not the type still has an inbox then.
//!     Of a deleted day an inbox has nothing left that could be seen; an entry that moved is of the day of its move.

//! 30. An entry is counted by the figures once it enters a lane or ends. What an inbox shows as seen from the first moment
//!     on, since it was marked while it waited, is not seen for the first time later. A user mutes a type on a channel
//!     where an own `never` that was not there before leaves nothing of it to hear.

mod arrival;
mod audience;
mod calendar;
mod clock;
mod concerned;
mod condition;
mod figures;
mod inbox;
mod item;
pub(crate) mod looks;
mod objects;
mod pending;
mod person;
mod preferences;
mod route;
mod settings;
mod slots;
mod suppressed;
mod tenant;
mod tenants;
mod window;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_core::content::{Message, Totals};
use tidings_core::model::{
    BatchKey, Cancelled, ChannelAddress, Choice, ItemChange, Outcome, Reason, Timed,
};
use tidings_core::{Command, Day, Event, Id, Instant, Rules};

use audience::Followers;
use figures::{FiguresLog, FirstMarks};
use item::ModelItem;
use looks::PastAddresses;
use objects::Objects;
use person::Person;
use settings::PersonSettings;
use suppressed::SuppressionList;
use tenant::Tenants;
use window::Lane;

/// The reason why a command is refused. The clock moves to its instant nevertheless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The recipient is unknown.
    #[error("unknown recipient {0}")]
    UnknownRecipient(Id),
    /// The type is not configured.
    #[error("unknown type {0}")]
    UnknownType(Id),
    /// The tenant is unknown.
    #[error("unknown tenant {0}")]
    UnknownTenant(Id),
    /// The digest does not let recipients choose that.
    #[error("that may not be chosen for the digest")]
    DigestTime,
    /// Tenants are not configured.
    #[error("tenants are off")]
    TenantsOff,
    /// Tenants have no mutes.
    #[error("a tenant can't mute")]
    Mute,
    /// The tenant is disabled or was deleted.
    #[error("the tenant {0} is gone")]
    TenantGone(Id),
    /// The type is required.
    #[error("a required type can't be never")]
    Required,
    /// The command is earlier than the last one.
    #[error("time went back to {0}")]
    TimeWentBack(Instant),
}

/// The answer to a command: the reason why it was refused, or nothing.
pub type ModelAnswer = Result<(), String>;

/// The model of the contract.
#[derive(Clone, Debug)]
pub struct Model {
    /// All versions of the rules; the last is in force.
    rules: Vec<Rules>,
    now: Instant,
    /// True if the last phase of `now` is still to come.
    midst: bool,
    people: Vec<Person>,
    by_id: BTreeMap<Id, usize>,
    /// Everybody's addresses as long as they had them, by person.
    past_addresses: PastAddresses,
    followers: Followers,
    tenants: Tenants,
    objects: Objects,
    events: Vec<ModelEvent>,
    /// Events cancelled ahead, of a tenant or of any, with the instant at which the cancel ends.
    ahead: BTreeMap<(Id, Option<usize>), Instant>,
    /// Events whose day of arrival is kept.
    known: BTreeMap<Id, usize>,
    entries: Vec<Entry>,
    /// Scheduled events, by (t, arrival).
    scheduled: BTreeSet<(Instant, usize)>,
    lanes: Vec<Lane>,
    /// By person, channel, name, batch key and tenant.
    lane_of: BTreeMap<(usize, String, String, BatchKey, Option<usize>), usize>,
    /// Lanes that have a window.
    open: BTreeSet<usize>,
    days: BTreeMap<Day, DayContent>,
    paused_types: BTreeSet<String>,
    paused_channels: BTreeSet<String>,
    suppressed: SuppressionList,
    messages: Vec<Message>,
    /// Entries that were marked as read while they waited.
    read: BTreeSet<usize>,
    /// Entries that are snoozed in an inbox, or were.
    snoozed: BTreeSet<usize>,
    /// Number of places that inboxes have given.
    placed: usize,
    /// The answers to the commands of a test.
    pub(crate) answers: Vec<ModelAnswer>,
    given_back: u64,
    /// The instants of the messages to a person on a channel that has caps.
    sent_at: BTreeMap<(usize, String), Vec<Instant>>,
    /// An empty message passed a lane whose caps count it: on such a channel, or before an
    /// entry of a `leading` lane.
    passed_empty: bool,
    /// Number of messages before this instant.
    earlier: usize,
    counted: Totals,
    figures_log: FiguresLog,
    /// The recipients of an entry of a type with `once_ever`, by the key that applied then.
    admitted_once: BTreeSet<(usize, AdmissionKey)>,
}

/// Contract, section 6, "Admission": a tenant, a type, what tells its entries apart, and the id of that.
type AdmissionKey = (Option<usize>, String, &'static str, Option<Id>);

/// An event, with its place in the order of arrival as its index.
#[derive(Clone, Debug)]
struct ModelEvent {
    event: Event,
    tenant: Option<usize>,
    arrived: Instant,
    entries: Vec<usize>,
    /// The channels of its type that it allows.
    channels: Vec<String>,
    /// Whom its audience reached; with whom the admission refused, why, and on which channels.
    reached: BTreeMap<usize, Option<(&'static str, Vec<String>)>>,
}

impl ModelEvent {
    /// Returns true if a cancel is about it: one of its tenant, or of any.
    fn is_meant(&self, what: &Cancelled, of: Option<usize>) -> bool {
        let is_it = match what {
            Cancelled::Event(id) => self.event.id == *id,
            Cancelled::Key(key) => self.event.cancellation_key.as_ref() == Some(key),
        };
        is_it && (of.is_none() || self.tenant == of)
    }
}

/// One notification on one channel.
#[derive(Clone, Debug)]
struct Entry {
    /// Index of its event, which is its arrival.
    event: usize,
    person: usize,
    channel: String,
    /// The instant at which it enters its lane.
    t: Instant,
    /// Asked once, at arrival.
    key: BatchKey,
    reasons: Arc<Vec<String>>,
    state: ModelEntryState,
    /// The day on which it entered its lane.
    day: Day,
    /// The instant at which it did, or at which its event arrived.
    entered: Instant,
    /// The instant at which it was delivered.
    delivered: Option<Instant>,
    /// The instants at which it was first seen and read in an inbox.
    first: FirstMarks,
    seen: bool,
    /// Number of places that were given before it entered its lane.
    place: usize,
    /// The state that it has in an inbox.
    item: Option<ModelItem>,
    /// It is in an inbox, whose day is kept.
    shown: bool,
    /// Its type was urgent when it entered its lane.
    urgent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelEntryState {
    Scheduled,
    Waiting {
        lane: usize,
    },
    /// For a reason; `None` = it was delivered.
    Ended(Option<Reason>),
}

/// The content of a day.
#[derive(Clone, Debug, Default)]
struct DayContent {
    events: Vec<usize>,
    entries: Vec<usize>,
}

impl Model {
    /// A world without recipients, under these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            rules: vec![rules],
            now: Instant::MIN,
            midst: false,
            people: Vec::new(),
            by_id: BTreeMap::new(),
            past_addresses: PastAddresses::default(),
            followers: Followers::new(),
            tenants: Tenants::default(),
            objects: Objects::default(),
            events: Vec::new(),
            ahead: BTreeMap::new(),
            known: BTreeMap::new(),
            entries: Vec::new(),
            scheduled: BTreeSet::new(),
            lanes: Vec::new(),
            lane_of: BTreeMap::new(),
            open: BTreeSet::new(),
            days: BTreeMap::new(),
            paused_types: BTreeSet::new(),
            paused_channels: BTreeSet::new(),
            suppressed: SuppressionList::default(),
            given_back: 0,
            messages: Vec::new(),
            answers: Vec::new(),
            read: BTreeSet::new(),
            snoozed: BTreeSet::new(),
            placed: 0,
            sent_at: BTreeMap::new(),
            passed_empty: false,
            earlier: 0,
            counted: Totals::default(),
            figures_log: FiguresLog::default(),
            admitted_once: BTreeSet::new(),
        }
    }

    /// Runs the clock to the command's instant and plays it.
    ///
    /// # Errors
    /// [`Refused`] where the command cannot be played; nothing but the clock has changed then.
    pub fn play(&mut self, timed: Timed) -> Result<(), Refused> {
        self.advance(timed.at)?;
        self.figures_log.began.get_or_insert(timed.at);
        match timed.command {
            Command::Recipient(change) => {
                self.are_there(&change, None)?;
                self.suppressed.take_back(&change, self.now);
                self.change_recipient(&change);
            }
            Command::Erase { recipient } => self.erase(&recipient),
            Command::Device { recipient, channel, address, joins } => {
                let person = self.person(&recipient)?;
                let tenant = self.named(address.tenant.as_ref())?;
                if joins {
                    self.people[person].join(channel, &address.text, tenant);
                    self.suppressed.given(ChannelAddress::new(channel, &address.text), self.now);
                } else {
                    self.people[person].part(channel, &address.text, tenant);
                }
            }
            Command::Subscribe { recipient, topic, tenant } => {
                let (person, tenant) = (self.person(&recipient)?, self.named(tenant.as_ref())?);
                self.followers.entry((tenant, topic)).or_default().insert(person);
            }
            Command::Unsubscribe { recipient, topic, tenant } => {
                let (person, tenant) = (self.person(&recipient)?, self.named(tenant.as_ref())?);
                self.followers.entry((tenant, topic)).or_default().remove(&person);
            }
            Command::Publish(event) => self.publish(*event)?,
            Command::Object(object) => {
                self.objects.put(&object, self.now.day());
                self.keep_today();
            }
            // The host is asked by a server alone.
            Command::Resolved(_) => {}
            Command::Retract { object } => {
                self.objects.retract(&object, self.now.day());
                self.keep_today();
            }
            Command::Mark { recipient, what, kind, view } => {
                let (person, view) = (self.person(&recipient)?, self.view(&view)?);
                self.mark(person, &what, kind, view);
                self.mark_items(person, &what, kind, view);
            }
            Command::ChangeItems { recipient, what, change, view } => {
                let (person, view) = (self.person(&recipient)?, self.view(&view)?);
                if matches!(
                    change,
                    ItemChange::Archive | ItemChange::Snooze(_) | ItemChange::Delete
                ) {
                    self.shelve(person, &what, view);
                }
                self.change_items(person, &what, change, view);
            }
            Command::Cancel { what, tenant } => {
                self.cancel(&what, self.named(tenant.as_ref())?);
            }
            Command::Withdraw { what, tenant } => {
                let tenant = self.named(tenant.as_ref())?;
                self.cancel(&what, tenant);
                self.take_out(&what, tenant);
            }
            Command::Preference { recipient, scope, channel, mode, tenant, by } => {
                let person = self.person(&recipient)?;
                self.prefer(person, Choice { scope, channel, mode, tenant }, by)?;
            }
            Command::Flush { recipient, channel, lane, key, view } => {
                let (person, view) = (self.person(&recipient)?, self.view(&view)?);
                self.flush(person, channel.as_deref(), lane.as_deref(), key.as_ref(), view);
            }
            Command::Preferences { recipient, chosen, whole, tenant, by } => {
                let (person, tenant) = (self.person(&recipient)?, self.named(tenant.as_ref())?);
                self.choose(person, chosen, by, whole.then_some(tenant))?;
            }
            Command::Suppress { address, reason, until } => {
                self.suppressed.suppress(address, reason, until, self.now);
            }
            Command::Unsuppress { address } => self.suppressed.lift(address, self.now),
            Command::ReportAddress { address, report, at, .. } => {
                let now = self.now;
                self.suppressed.note_address_report(address, report, at.min(now), now);
            }
            Command::Pause(what) => self.pause(what, true),
            Command::Resume(what) => self.pause(what, false),
            Command::Forget { before } => self.forget(before),
            // What it tells is handed over at once, and named by the engine alone.
            Command::Message { .. }
            | Command::Report { .. }
            | Command::Hook { .. }
            | Command::BeginJob(_)
            | Command::StopJob { .. } => {}
            Command::Tenant { tenant, change } => self.change_tenant(tenant, *change)?,
            Command::DeleteTenant { tenant } => self.delete_tenant(self.tenant(&tenant)?),
            Command::Join { recipient, tenant } => {
                let (person, tenant) = (self.person(&recipient)?, self.tenant(&tenant)?);
                self.tenants.get_mut(tenant).members.insert(person);
            }
            Command::Leave { recipient, tenant } => {
                let (person, tenant) = (self.person(&recipient)?, self.tenant(&tenant)?);
                self.leave_tenant(tenant, person);
            }
        }
        Ok(())
    }

    /// Runs the clock to an instant, where a new configuration takes effect like a command.
    ///
    /// # Errors
    /// [`Refused::TimeWentBack`].
    pub fn reconfigure(&mut self, at: Instant, rules: Rules) -> Result<(), Refused> {
        self.advance(at)?;
        self.figures_log.began.get_or_insert(at);
        self.fade();
        let zones = self.zones();
        self.trim_log(&rules);
        self.rules.push(rules);
        let types: BTreeSet<String> = self.current().types.keys().cloned().collect();
        self.paused_types.retain(|kind| types.contains(kind));
        self.change_slots(&zones);
        self.reroute(None);
        Ok(())
    }

    /// All messages of finished instants, ordered by (at, recipient, channel, lane) by bytes.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages[..if self.midst { self.earlier } else { self.messages.len() }]
    }

    /// Returns true if a closing told no entry: caps and `leading` lanes count it until its message is made.
    #[must_use]
    pub fn has_passed_empty(&self) -> bool {
        self.passed_empty
    }

    /// Number of events whose ids were released: they named only unknown recipients.
    #[must_use]
    pub fn given_back(&self) -> u64 {
        self.given_back
    }

    /// The books, counted by walking over all entries.
    #[must_use]
    pub fn books(&self) -> Totals {
        let mut books = Totals {
            entries: self.entries.len() as u64,
            messages: self.messages.len() as u64,
            ..self.counted
        };
        for entry in &self.entries {
            *match entry.state {
                ModelEntryState::Scheduled | ModelEntryState::Waiting { .. } => &mut books.pending,
                ModelEntryState::Ended(why) => {
                    match why.map_or(Outcome::Delivered, Reason::outcome) {
                        Outcome::Delivered => &mut books.delivered,
                        Outcome::Cancelled => &mut books.cancelled,
                        Outcome::Skipped => &mut books.skipped,
                        Outcome::Expired => &mut books.expired,
                        Outcome::Failed => &mut books.failed,
                        Outcome::Unknown => &mut books.unknown,
                    }
                }
            } += 1;
        }
        books
    }

    /// Something of today is kept.
    fn keep_today(&mut self) {
        self.days.entry(self.now.day()).or_default();
    }

    fn current(&self) -> &Rules {
        self.rules.last().expect("there is one from the beginning")
    }

    /// The effective settings of a recipient's entries, of a tenant or of none.
    fn settings(&self, person: usize, tenant: Option<usize>) -> PersonSettings<'_> {
        PersonSettings {
            person: &self.people[person],
            tenant: tenant.map(|tenant| (tenant, self.tenants.get(tenant))),
            rules: self.current(),
        }
    }

    fn person(&self, id: &Id) -> Result<usize, Refused> {
        self.by_id.get(id).copied().ok_or_else(|| Refused::UnknownRecipient(id.clone()))
    }

    fn change_recipient(&mut self, change: &tidings_core::model::RecipientChange) {
        let person = self.by_id.get(&change.id).copied().unwrap_or_else(|| {
            self.people.push(Person::new(change.id.clone()));
            self.by_id.insert(change.id.clone(), self.people.len() - 1);
            self.people.len() - 1
        });
        let zones = self.zones();
        self.people[person].change(change, |id| self.tenants.number(id));
        self.change_slots(&zones);
        if let Some(tenants) = &change.tenants {
            let tenants = tenants.iter().filter_map(|id| self.tenants.number(id)).collect();
            self.set_tenants(person, &tenants);
        }
    }

    fn erase(&mut self, id: &Id) {
        if let Some(person) = self.by_id.remove(id) {
            self.people[person].gone = true;
            for followers in self.followers.values_mut() {
                followers.remove(&person);
            }
            self.tenants.forget_member(person);
        }
    }
}
