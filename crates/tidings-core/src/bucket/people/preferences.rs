//! Preferences of recipients, as sets by mode, and their mutes.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::mutes::Mutes;
use super::tenant_choices::{ModeRecipients, TenantChoices};
use crate::model::channel::ChannelNo;
use crate::model::number::LaneNo;
use crate::model::pause::Paused;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::tenant::{TenantNo, TenantTerms};
use crate::rules::compiled::Type;

/// Recipients by their mode for a scope on a channel. Disjoint per scope and channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preferences {
    /// Preferences for all entries, of every tenant and of none.
    chosen: BTreeMap<(ChannelNo, PreferenceScope), ModeRecipients>,
    pub(crate) of_tenants: TenantChoices,
    pub(crate) mutes: Mutes,
}

/// A mode for a scope on a channel; `tenant` = for entries of this one alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Preference {
    pub(crate) tenant: Option<TenantNo>,
    pub(crate) channel: ChannelNo,
    pub(crate) scope: PreferenceScope,
    pub(crate) mode: Mode,
}

/// The level that a preference in force was set at, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetBy {
    /// The recipient, for entries of the tenant.
    RecipientForTenant,
    /// The recipient, for all entries.
    Recipient,
    /// The tenant, as its default.
    Tenant,
}

/// The preference in force for a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferenceInForce {
    /// The level.
    pub set_by: SetBy,
    /// The scope.
    pub scope: PreferenceScope,
    /// The mode.
    pub mode: Mode,
}

impl Preferences {
    /// Sets a mode; [`Mode::Default`] removes the one at this level, of the same tenant or of none.
    pub(crate) fn choose(&mut self, number: u32, chosen: Preference) {
        let Preference { tenant, channel, scope, mode } = chosen;
        if scope.is_mute() {
            return self.mutes.set(number, (tenant, channel, scope), mode == Mode::Never);
        }
        if let Some(tenant) = tenant {
            return self.of_tenants.choose(number, (tenant, channel, scope), mode);
        }
        let modes = self.chosen.entry((channel, scope)).or_default();
        modes.retain(|_, recipients| {
            recipients.remove(number);
            !recipients.is_empty()
        });
        if mode != Mode::Default {
            modes.entry(mode).or_default().insert(number);
        }
        self.chosen.retain(|_, modes| !modes.is_empty());
    }

    /// Removes all preferences of a recipient.
    pub(crate) fn erase(&mut self, number: u32) {
        self.mutes.erase(number);
        let of_tenants = self.of_tenants.of(number);
        let of_tenants: Vec<_> = of_tenants
            .map(|(tenant, channel, scope, _)| (tenant, channel, scope.clone()))
            .collect();
        for at in of_tenants {
            self.of_tenants.choose(number, at, Mode::Default);
        }
        for modes in self.chosen.values_mut() {
            if modes.values().any(|recipients| recipients.contains(number)) {
                for recipients in modes.values_mut() {
                    recipients.remove(number);
                }
            }
        }
    }

    /// The recipients with preferences for entries of a tenant; some of them may be there several times.
    pub(crate) fn recipients_with_choices(&self, tenant: TenantNo) -> impl Iterator<Item = u32> {
        self.of_tenants.recipients_with_choices(tenant).chain(self.mutes.muting_in(tenant))
    }

    /// Sets the defaults of a tenant.
    pub(crate) fn set_defaults(&mut self, tenant: TenantNo, terms: &TenantTerms) {
        self.of_tenants.set_defaults(tenant, &terms.preferences);
    }

    /// An upper bound on the number of a recipient's preferences.
    pub(crate) fn count(&self, number: u32) -> usize {
        self.chosen.len() + self.of_tenants.of(number).count() + self.mutes.of(number).count()
    }

    /// All preferences of a recipient: those for all entries before those of tenants, mutes last.
    pub(crate) fn of(&self, number: u32) -> Vec<Preference> {
        let mut chosen = Vec::new();
        for ((channel, scope), modes) in &self.chosen {
            for (mode, recipients) in &**modes {
                if recipients.contains(number) {
                    let (scope, mode) = (scope.clone(), mode.clone());
                    chosen.push(Preference { tenant: None, channel: *channel, scope, mode });
                }
            }
        }
        chosen.extend(self.of_tenants.of(number).map(|(tenant, channel, scope, mode)| {
            let (scope, mode) = (scope.clone(), mode.clone());
            Preference { tenant: Some(tenant), channel, scope, mode }
        }));
        chosen.extend(self.mutes.of(number).map(|(tenant, channel, scope)| {
            let (scope, mode) = (scope.clone(), Mode::Never);
            Preference { tenant, channel, scope, mode }
        }));
        chosen
    }

    /// The recipients by mode for each scope of a type, in order of precedence.
    fn levels(
        &self,
        channel: ChannelNo,
        of_type: &Type,
        tenant: Option<TenantNo>,
    ) -> impl Iterator<Item = (SetBy, PreferenceScope, &ModeRecipients)> {
        let of_tenant = tenant.into_iter().flat_map(move |tenant| {
            scopes(of_type).into_iter().filter_map(move |scope| {
                let modes = self.of_tenants.modes(tenant, channel, &scope)?;
                Some((SetBy::RecipientForTenant, scope, modes))
            })
        });
        of_tenant.chain(scopes(of_type).into_iter().filter_map(move |scope| {
            let at = (channel, scope);
            let modes = self.chosen.get(&at)?;
            Some((SetBy::Recipient, at.1, modes))
        }))
    }

    /// The default of a tenant for a type.
    fn default_of(
        &self,
        channel: ChannelNo,
        of_type: &Type,
        tenant: TenantNo,
    ) -> Option<(PreferenceScope, &Mode)> {
        let defaults = self.of_tenants.defaults(tenant);
        if defaults.is_empty() {
            return None;
        }
        scopes(of_type).into_iter().find_map(|scope| {
            let mut defaults = defaults.iter();
            let (_, _, mode) = defaults.find(|(of, at, mode)| {
                *of == channel && *at == scope && of_type.knows(channel, mode)
            })?;
            Some((scope, mode))
        })
    }

    /// Splits a set by the mode that applies to a type's entries of a tenant, or of none: what the recipient set with the
    /// tenant, what the recipient set without, the tenant's default; of each, type before category before all categories.
    /// A digest that is no longer configured is as if it were not chosen.
    pub(crate) fn split(
        &self,
        channel: ChannelNo,
        of_type: &Type,
        tenant: Option<TenantNo>,
        mut recipients: RoaringBitmap,
    ) -> Vec<(Option<Mode>, RoaringBitmap)> {
        let mut parts = Vec::new();
        for (_, _, modes) in self.levels(channel, of_type, tenant) {
            for (mode, chosen) in modes.iter().filter(|(mode, _)| of_type.knows(channel, mode)) {
                let part = &recipients & chosen;
                if !part.is_empty() {
                    recipients -= &part;
                    parts.push((Some(mode.clone()), part));
                }
            }
        }
        if !recipients.is_empty() {
            let default = tenant.and_then(|tenant| self.default_of(channel, of_type, tenant));
            parts.push((default.map(|(_, mode)| mode.clone()), recipients));
        }
        parts
    }

    /// The preference that applies to a type's entries of a tenant, or of none, for one recipient.
    pub(crate) fn applying(
        &self,
        number: u32,
        channel: ChannelNo,
        of_type: &Type,
        tenant: Option<TenantNo>,
    ) -> Option<PreferenceInForce> {
        let of_recipient =
            self.levels(channel, of_type, tenant).find_map(|(set_by, scope, modes)| {
                let mut chosen = modes.iter().filter(|(_, recipients)| recipients.contains(number));
                let (mode, _) = chosen.find(|(mode, _)| of_type.knows(channel, mode))?;
                Some(PreferenceInForce { set_by, scope, mode: mode.clone() })
            });
        of_recipient.or_else(|| {
            let (scope, mode) = self.default_of(channel, of_type, tenant?)?;
            Some(PreferenceInForce { set_by: SetBy::Tenant, scope, mode: mode.clone() })
        })
    }

    /// Splits a set by the lane that a type's entries of a tenant, or of none, take; `None` = never.
    pub(crate) fn lanes(
        &self,
        channel: ChannelNo,
        of_type: &Type,
        tenant: Option<TenantNo>,
        paused: &Paused,
        recipients: RoaringBitmap,
    ) -> impl Iterator<Item = (Option<LaneNo>, RoaringBitmap)> {
        self.split(channel, of_type, tenant, recipients)
            .into_iter()
            .map(move |(mode, part)| (of_type.lane_while(paused, channel, mode.as_ref()), part))
    }
}

/// The scopes that concern a type, in order of precedence.
fn scopes(of_type: &Type) -> [PreferenceScope; 3] {
    [
        PreferenceScope::Type(of_type.name.clone()),
        PreferenceScope::Category(of_type.rules.category.clone()),
        PreferenceScope::AllCategories,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::{EMAIL_NO, INBOX_NO};
    use crate::model::number::TypeNo;
    use crate::rules::compiled::RulesVersion;
    use crate::rules::names::NumberedNames;
    use crate::rules::{Defaults, Policy, Route, Rules, StoreRules, TypeRules};

    fn rules() -> Rules {
        let channels = BTreeMap::from([("email".to_owned(), Route::of(Policy::Now))]);
        let of_type = TypeRules { category: "c".to_owned(), channels, ..TypeRules::default() };
        Rules {
            defaults: Defaults::default(),
            categories: BTreeMap::new(),
            digests: BTreeMap::new(),
            types: BTreeMap::from([("t".to_owned(), of_type)]),
            store: StoreRules::default(),
            channels: BTreeMap::new(),
            limits: crate::model::limits::Limits::default(),
            presentation: Default::default(),
            caps: Vec::new(),
            resolver: None,
            feedback: Default::default(),
            ..Rules::default()
        }
    }

    #[test]
    fn a_type_goes_before_its_category_and_both_before_all_categories() {
        let (version, _) = RulesVersion::new(1, rules(), &mut NumberedNames::default());
        let t = version.of_type(TypeNo(0)).expect("the only type has the first number");
        let mut preferences = Preferences::default();
        let of = |scope, mode| Preference { tenant: None, channel: EMAIL_NO, scope, mode };
        let category = || PreferenceScope::Category("c".to_owned());
        let of_type = || PreferenceScope::Type("t".to_owned());
        let mut choose = |number, scope, mode| preferences.choose(number, of(scope, mode));
        choose(1, category(), Mode::Never);
        choose(2, category(), Mode::Never);
        choose(2, of_type(), Mode::Immediate);
        choose(3, of_type(), Mode::Digest("gone".to_owned()));
        let everything = || PreferenceScope::AllCategories;
        choose(1, everything(), Mode::Immediate);
        choose(4, everything(), Mode::Never);
        let all: RoaringBitmap = (0..5).collect();
        let parts = preferences.split(EMAIL_NO, t, None, all.clone());
        let expected = [
            (Some(Mode::Immediate), vec![2]),
            (Some(Mode::Never), vec![1]),
            (Some(Mode::Never), vec![4]),
            (None, vec![0, 3]),
        ];
        assert_eq!(parts.len(), expected.len());
        for (part, (mode, recipients)) in parts.iter().zip(expected) {
            assert_eq!((&part.0, part.1.iter().collect::<Vec<_>>()), (&mode, recipients));
        }
        let applying = |number| {
            let applying = preferences.applying(number, EMAIL_NO, t, None)?;
            Some((applying.scope, applying.mode))
        };
        assert_eq!(applying(2), Some((of_type(), Mode::Immediate)));
        assert_eq!(applying(4), Some((everything(), Mode::Never)));
        assert_eq!(applying(3), None);
        preferences.choose(2, of(of_type(), Mode::Default));
        assert_eq!(preferences.of(2), [of(category(), Mode::Never)]);
        assert_eq!(preferences.split(INBOX_NO, t, None, all).len(), 1, "another channel");
    }

    /// A level of a preference in the naive order: whose it is, and its scope's rank.
    type Naive = BTreeMap<(u32, Option<u32>, u8), Mode>;

    const SCOPES: [fn() -> PreferenceScope; 3] = [
        || PreferenceScope::Type("t".to_owned()),
        || PreferenceScope::Category("c".to_owned()),
        || PreferenceScope::AllCategories,
    ];

    fn mode(which: u8) -> Mode {
        match which {
            0 => Mode::Never,
            1 => Mode::Immediate,
            2 => Mode::Digest("gone".to_owned()),
            _ => Mode::Default,
        }
    }

    fn tenant(which: u32) -> Option<TenantNo> {
        TenantNo::of_raw(which)
    }

    /// The mode of the first level with a mode that the type knows (contract, section 12, "Preferences").
    fn naive(chosen: &Naive, defaults: &[(u32, u8, Mode)], number: u32, of: u32) -> Option<Mode> {
        let knows = |mode: &&Mode| !matches!(mode, Mode::Digest(_) | Mode::Default);
        let own = |whose: Option<u32>| {
            (0..3).find_map(move |scope| chosen.get(&(number, whose, scope)).filter(knows))
        };
        let with_tenant = (of > 0).then(|| own(Some(of))).flatten();
        let default = || {
            (0..3).find_map(|rank| {
                let mut of_rank =
                    defaults.iter().filter(|(whose, scope, _)| (*whose, *scope) == (of, rank));
                of_rank.next().map(|(.., mode)| mode).filter(knows)
            })
        };
        with_tenant.or_else(|| own(None)).or_else(|| default().filter(|_| of > 0)).cloned()
    }

    proptest::proptest! {
        #[test]
        fn a_split_by_tenant_is_the_naive_order_of_precedence(
            sets in proptest::collection::vec((0..5_u32, 0..3_u32, 0..3_u8, 0..4_u8), 0..60),
            given in proptest::collection::btree_map((1..3_u32, 0..3_u8), 0..3_u8, 0..6),
        ) {
            let (version, _) = RulesVersion::new(1, rules(), &mut NumberedNames::default());
            let of_type = version.of_type(TypeNo(0)).expect("the only type has the first number");
            let (mut preferences, mut chosen) = (Preferences::default(), Naive::new());
            for (number, whose, scope, which) in sets {
                let (channel, at) = (EMAIL_NO, SCOPES[usize::from(scope)]());
                let mode = mode(which);
                let tenant = tenant(whose);
                let set = Preference { tenant, channel, scope: at, mode: mode.clone() };
                preferences.choose(number, set);
                let level = (number, tenant.map(|_| whose), scope);
                match mode {
                    Mode::Default => chosen.remove(&level),
                    mode => chosen.insert(level, mode),
                };
            }
            let mut defaults = Vec::new();
            for whose in 1..3 {
                let of_tenant = given.iter().filter(|((of, _), _)| *of == whose);
                let listed = of_tenant.map(|((_, scope), which)| (*scope, mode(*which)));
                let listed: Vec<(u8, Mode)> = listed.collect();
                let terms = listed.iter().map(|(scope, mode)| {
                    (EMAIL_NO, SCOPES[usize::from(*scope)](), mode.clone())
                });
                let terms = TenantTerms { preferences: terms.collect(), ..TenantTerms::default() };
                preferences.set_defaults(tenant(whose).expect("it is above 0"), &terms);
                defaults.extend(listed.into_iter().map(|(scope, mode)| (whose, scope, mode)));
            }
            for of in 0..3 {
                let parts = preferences.split(EMAIL_NO, of_type, tenant(of), (0..5).collect());
                let mut seen = RoaringBitmap::new();
                for (mode, recipients) in &parts {
                    proptest::prop_assert!(seen.is_disjoint(recipients));
                    seen |= recipients;
                    for number in recipients {
                        let expected = naive(&chosen, &defaults, number, of);
                        let applying = preferences.applying(number, EMAIL_NO, of_type, tenant(of));
                        proptest::prop_assert_eq!(&expected, mode, "{} in {}", number, of);
                        proptest::prop_assert_eq!(expected, applying.map(|applying| applying.mode));
                    }
                }
                proptest::prop_assert_eq!(seen.len(), 5);
            }
            for number in 0..5 {
                let listed = preferences.of(number).len();
                proptest::prop_assert_eq!(listed, chosen.keys().filter(|key| key.0 == number).count());
                preferences.erase(number);
                proptest::prop_assert_eq!(preferences.of(number), []);
            }
            proptest::prop_assert!(preferences.of_tenants.is_empty());
        }
    }
}
