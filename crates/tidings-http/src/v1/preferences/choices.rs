//! The choices of a recipient, as a page of preferences shows them: the modes that may be chosen, and those in force.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tidings_api::body::preference::Preference;
use tidings_api::body::quiet;
use tidings_config::secret_here;
use tidings_core::engine::{PreferenceInForce, Presenter, SetBy, TenantDirectory};
use tidings_core::model::{
    CHANNEL_KINDS, ChannelKind, ChannelNo, Choice, INBOX, Mode, PreferenceScope, TenantNo, View,
};
use tidings_core::rules::{ChoiceOrder, Policy, TypeRules};
use tidings_core::{Id, Recipient, Rules};
use tidings_mail::{ChoiceTitles, Design};
use tidings_node::DurableSnapshot;
use utoipa::ToSchema;

use super::digest_times::{DigestTimes, digest_times};
use super::quiet_hours::{self, InForce};
use crate::chosen::{digests, own, zone};
use crate::error::Problem;

/// The channel of browsers.
const WEBPUSH: &str = "webpush";

/// The preferences of a recipient, with all that a page of preferences shows.
#[derive(Serialize, ToSchema)]
pub(crate) struct AllPreferences {
    /// The preferences that are set, mutes included.
    preferences: Vec<Preference>,
    /// The categories that have types, in the order of the configuration.
    choices: Vec<CategoryChoice>,
    /// The titles of digests in the recipient's language, by name; digests without a title are left out.
    digests: BTreeMap<String, String>,
    /// The times in force of the digests that let recipients choose some.
    digest_times: Vec<DigestTimes>,
    /// The muted topics and objects.
    mutes: Vec<Mute>,
    /// Quiet hours: null = none, `default` = those of each channel.
    quiet_hours: Option<quiet::QuietHoursShown>,
    /// The quiet hours in force, by channel, whether set by the recipient, the tenant or the configuration; channels
    /// without any are left out.
    quiet_hours_in_force: Vec<InForce>,
    /// The time zone of quiet hours and digests: the recipient's, else the tenant's, else the default.
    tz: String,
    /// The key by which browsers subscribe; absent if nothing is sent to browsers.
    #[serde(skip_serializing_if = "Option::is_none")]
    push: Option<PushKey>,
}

/// A category, and the choices for all of its types.
#[derive(Serialize, ToSchema)]
struct CategoryChoice {
    /// Its name.
    category: String,
    /// Its title, in the recipient's language.
    title: String,
    /// True if no type of it can be turned off.
    required: bool,
    /// The channels that its types have.
    channels: Vec<ChannelChoice>,
    /// Its types, in the order of the configuration.
    types: Vec<TypeChoice>,
}

/// A type and its choices.
#[derive(Serialize, ToSchema)]
struct TypeChoice {
    /// Its name.
    r#type: String,
    /// Its title, in the recipient's language.
    title: String,
    /// True if it can't be turned off.
    required: bool,
    /// Its channels.
    channels: Vec<ChannelChoice>,
}

/// The choices on a channel, and the one in force.
#[derive(Serialize, ToSchema)]
struct ChannelChoice {
    /// The channel.
    channel: &'static str,
    /// The modes that may be chosen: `never`, `immediate`, and digests, the most frequent first.
    modes: Vec<String>,
    /// The mode in force; null if the types of a category have several. Types that can be turned off decide about their
    /// category, if it has any.
    mode: Option<String>,
    /// The source of the mode: a preference for the `type`, for its `category`, for all (`*`), or none (`default`).
    from: Level,
    /// False if the recipient has no address on the channel.
    connected: bool,
}

/// A level at which a preference is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PreferenceLevel)]
enum Level {
    #[serde(rename = "type")]
    Type,
    #[serde(rename = "category")]
    Category,
    #[serde(rename = "*")]
    All,
    #[serde(rename = "default")]
    Default,
}

/// A muted topic or object, on a channel or on each (`*`).
#[derive(Serialize, ToSchema)]
struct Mute {
    /// The topic, with everything below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    /// The object.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    /// Its title, if it is known.
    title: Option<String>,
    /// The channel; `*` = each.
    channel: String,
}

/// The key by which browsers subscribe to Web Push.
#[derive(Serialize, ToSchema)]
struct PushKey {
    /// The public key of the server (VAPID), in base64url.
    key: String,
}

/// The choices for types, by channel and type.
type TypeChoicesByChannel = BTreeMap<ChannelNo, BTreeMap<String, PreferenceInForce>>;

impl AllPreferences {
    /// The preferences of a recipient, or those of an unknown recipient, who has set none.
    pub(super) fn of(
        node: &DurableSnapshot,
        rules: &Rules,
        design: &Design,
        (recipient, view): (&Id, &View),
    ) -> Result<Self, Problem> {
        let engine = node.engine();
        let profile = engine.recipient(recipient);
        let tenant = view.tenant().and_then(|id| TenantDirectory::of(engine).get(id));
        let locales = [
            profile.and_then(|profile| profile.locale.as_deref()),
            tenant.and_then(|of| of.tenant.locale.as_deref()),
        ];
        let mut locales: Vec<&str> = locales.into_iter().flatten().collect();
        if locales.is_empty() {
            locales.push(&rules.defaults.locale);
        }
        let titles = design.titles(&locales);
        let mut applying = TypeChoicesByChannel::new();
        let mut chosen = Vec::new();
        if profile.is_some() {
            chosen = engine.preferences(recipient, view)?;
            for channel in CHANNEL_KINDS {
                let found = engine.reader(node.view()).applying(
                    recipient,
                    channel.number,
                    view.tenant(),
                )?;
                applying.insert(channel.number, found);
            }
        }
        let mut presenter = Presenter::new(engine, node.view());
        let mut mutes = Vec::new();
        for Choice { scope, channel, mode, .. } in &chosen {
            let (topic, object) = match scope {
                PreferenceScope::Topic(id) => (Some(id), None),
                PreferenceScope::Object(id) => (None, Some(id)),
                _ => continue,
            };
            let Some(id) = topic.or(object).filter(|_| *mode == Mode::Never) else {
                continue;
            };
            let text = |id: &Id| id.as_str().to_owned();
            mutes.push(Mute {
                title: presenter
                    .object(id)?
                    .title
                    .as_ref()
                    .map(|title| titles.localised(title).to_owned()),
                topic: topic.map(text),
                object: object.map(text),
                channel: channel.clone(),
            });
        }
        let number = engine.reader(node.view()).numbered(view)?.tenant().copied();
        let connected = connected(profile, number);
        let hours = profile.and_then(|of| of.quiet_hours.as_deref());
        let tenant = tenant.map(|of| of.tenant);
        let named = digests(rules).into_iter();
        let tz = zone(rules, profile, tenant);
        Ok(Self {
            choices: PreferenceChooser {
                rules,
                titles: &titles,
                applying: &applying,
                connected: &connected,
            }
            .categories(),
            digests: named
                .filter_map(|(name, digest)| {
                    Some((name.to_owned(), titles.digest(name, digest.every)?))
                })
                .collect(),
            digest_times: digest_times(rules, &chosen, (view.tenant(), tz)),
            mutes,
            quiet_hours: quiet::QuietHoursShown::of(hours),
            quiet_hours_in_force: quiet_hours::in_force(rules, profile, tenant),
            tz: tz.to_owned(),
            push: push_key(rules),
            preferences: Preference::list(chosen),
        })
    }
}

/// The rules and the choices of a recipient.
struct PreferenceChooser<'c> {
    rules: &'c Rules,
    titles: &'c ChoiceTitles<'c>,
    applying: &'c TypeChoicesByChannel,
    /// The channels on which the recipient has an address.
    connected: &'c BTreeSet<ChannelNo>,
}

impl PreferenceChooser<'_> {
    fn categories(&self) -> Vec<CategoryChoice> {
        let order = &self.rules.presentation.order;
        let names = self.rules.categories.keys().map(String::as_str);
        let categories = ChoiceOrder::put(&order.categories, names).into_iter();
        categories.filter_map(|name| self.category(name)).collect()
    }

    fn category(&self, name: &str) -> Option<CategoryChoice> {
        let order = &self.rules.presentation.order;
        let of_category = self.rules.types.iter().filter(|(_, rules)| rules.category == name);
        let names = of_category.map(|(name, _)| name.as_str());
        let types = ChoiceOrder::put(&order.types, names).into_iter();
        let types: Vec<TypeChoice> = types.filter_map(|name| self.event_type(name)).collect();
        let required = types.iter().all(|of_type| of_type.required);
        let counted = || types.iter().filter(|of_type| required || !of_type.required);
        let mut channels = Vec::new();
        for kind in CHANNEL_KINDS {
            let on = |of_type: &&TypeChoice| of_type.on(kind.name).is_some();
            // Those that can't be turned off say nothing of it, beside others that can.
            let used: Vec<&TypeChoice> = match counted().filter(on).collect::<Vec<_>>() {
                none if none.is_empty() => types.iter().filter(on).collect(),
                some => some,
            };
            let here = || used.iter().filter_map(|of_type| of_type.on(kind.name));
            let modes: BTreeSet<&str> = here().flat_map(ChannelChoice::modes).collect();
            let first = here().next();
            let Some(first) = first else {
                continue;
            };
            let mode = first
                .mode
                .clone()
                .filter(|mode| here().all(|choice| choice.mode.as_deref() == Some(mode)));
            let scope = |level| here().any(|choice| choice.from == level);
            channels.push(ChannelChoice {
                channel: kind.name,
                modes: self.in_order(&modes),
                mode,
                from: match (self.is_chosen(name, kind.number), scope(Level::All)) {
                    (true, _) => Level::Category,
                    (false, true) => Level::All,
                    (false, false) => Level::Default,
                },
                connected: self.connected.contains(&kind.number),
            });
        }
        (!types.is_empty()).then(|| CategoryChoice {
            category: name.to_owned(),
            title: self.titles.category(name),
            required,
            channels,
            types,
        })
    }

    /// Returns true if something is chosen for a category on a channel that applies to one of its types.
    fn is_chosen(&self, category: &str, channel: ChannelNo) -> bool {
        let on_channel = self.applying.get(&channel);
        let mut applying = on_channel.into_iter().flat_map(BTreeMap::values);
        let scope = PreferenceScope::Category(category.to_owned());
        applying.any(|applying| applying.scope == scope && applying.set_by != SetBy::Tenant)
    }

    fn event_type(&self, name: &str) -> Option<TypeChoice> {
        let rules = self.rules.types.get(name)?;
        let id = Id::new(name).ok()?;
        let channels = CHANNEL_KINDS.iter().filter(|kind| rules.channels.contains_key(kind.name));
        Some(TypeChoice {
            r#type: name.to_owned(),
            title: self.titles.event_type(&id),
            required: rules.required,
            channels: channels
                .filter_map(|kind| self.on_channel(name, rules, (kind.name, kind.number)))
                .collect(),
        })
    }

    /// The choice for a type on a channel; `None` where it is off by itself, and nothing turns it on.
    fn on_channel(
        &self,
        name: &str,
        rules: &TypeRules,
        (channel, number): (&'static str, ChannelNo),
    ) -> Option<ChannelChoice> {
        let is_off = rules.channels.get(channel).is_some_and(|of| of.policy == Policy::Never);
        let applying = self.applying.get(&number).and_then(|of_types| of_types.get(name));
        let chosen = applying.filter(|applying| applying.set_by != SetBy::Tenant);
        let from = chosen.map_or(Level::Default, |applying| match applying.scope {
            PreferenceScope::Type(_) => Level::Type,
            PreferenceScope::Category(_) => Level::Category,
            _ => Level::All,
        });
        let mode = applying
            .map_or_else(|| own(self.rules, name, channel), |applying| applying.mode.clone());
        let mode = match mode {
            // What is urgent waits for no digest.
            Mode::Digest(_) if rules.urgent => Mode::Immediate,
            Mode::Immediate | Mode::Default if is_off => Mode::Never,
            mode => mode,
        };
        let mut modes = BTreeSet::new();
        if !is_off {
            modes.insert("immediate");
        }
        if channel != INBOX && !rules.urgent {
            modes.extend(self.rules.digests.keys().map(String::as_str));
        }
        if modes.is_empty() {
            return None;
        }
        if !rules.required || is_off {
            modes.insert("never");
        }
        let modes = self.in_order(&modes);
        let connected = self.connected.contains(&number);
        Some(ChannelChoice { channel, modes, mode: Some(mode.to_string()), from, connected })
    }

    /// Modes in the order in which they are offered.
    fn in_order(&self, modes: &BTreeSet<&str>) -> Vec<String> {
        let digests = digests(self.rules).into_iter().map(|(name, _)| name);
        let all = ["never", "immediate"].into_iter().chain(digests);
        all.filter(|mode| modes.contains(mode)).map(str::to_owned).collect()
    }
}

impl TypeChoice {
    fn on(&self, channel: &str) -> Option<&ChannelChoice> {
        self.channels.iter().find(|choice| choice.channel == channel)
    }
}

impl ChannelChoice {
    fn modes(&self) -> impl Iterator<Item = &str> {
        self.modes.iter().map(String::as_str)
    }
}

/// The channels on which a recipient has an address for messages of a tenant, or of any; the inbox needs none.
fn connected(profile: Option<&Recipient>, tenant: Option<TenantNo>) -> BTreeSet<ChannelNo> {
    let has_address = |channel: &ChannelKind| {
        let mut addresses =
            profile.into_iter().flat_map(|of| of.addresses.taking(channel.number, tenant));
        channel.is_inbox() || addresses.next().is_some()
    };
    CHANNEL_KINDS
        .iter()
        .filter(|channel| has_address(channel))
        .map(|channel| channel.number)
        .collect()
}

/// The public key of the first provider of Web Push.
fn push_key(rules: &Rules) -> Option<PushKey> {
    let mut providers = rules.channels.get(WEBPUSH)?.providers.iter();
    let login = providers.find_map(|provider| provider.strip_prefix("vapid://"))?;
    let key = login.split([':', '@', '?']).next()?;
    let name = key.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let key = match name {
        Some(name) => secret_here(name).ok()?,
        None => key.to_owned(),
    };
    Some(PushKey { key: key.trim_end_matches('=').to_owned() })
}
