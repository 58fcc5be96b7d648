//! Preferences of recipients, as sets by mode, and their mutes.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::mutes::Mutes;
use crate::model::channel::ChannelNo;
use crate::model::number::LaneNo;
use crate::model::pause::Paused;
use crate::model::preference::{Mode, PreferenceScope};
use crate::rules::compiled::Type;
use crate::sets::shared::Shared;

/// Recipients by their mode for a scope on a channel. Disjoint per scope and channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preferences {
    chosen: BTreeMap<(ChannelNo, PreferenceScope), Shared<BTreeMap<Mode, RoaringBitmap>>>,
    pub(crate) mutes: Mutes,
}

impl Preferences {
    /// Sets a mode; [`Mode::Default`] removes the one at this level.
    pub(crate) fn choose(
        &mut self,
        number: u32,
        channel: ChannelNo,
        scope: PreferenceScope,
        mode: Mode,
    ) {
        if scope.is_mute() {
            return self.mutes.set(number, channel, scope, mode == Mode::Never);
        }
        let modes = self.chosen.entry((channel, scope)).or_default();
        modes.retain(|_, who| {
            who.remove(number);
            !who.is_empty()
        });
        if mode != Mode::Default {
            modes.entry(mode).or_default().insert(number);
        }
        self.chosen.retain(|_, modes| !modes.is_empty());
    }

    /// Removes all preferences of a recipient.
    pub(crate) fn erase(&mut self, number: u32) {
        self.mutes.erase(number);
        for modes in self.chosen.values_mut() {
            if modes.values().any(|who| who.contains(number)) {
                for who in modes.values_mut() {
                    who.remove(number);
                }
            }
        }
    }

    /// All preferences of a recipient, mutes last.
    pub(crate) fn of(&self, number: u32) -> Vec<(ChannelNo, PreferenceScope, Mode)> {
        let mut chosen = Vec::new();
        for ((channel, scope), modes) in &self.chosen {
            for (mode, who) in &**modes {
                if who.contains(number) {
                    chosen.push((*channel, scope.clone(), mode.clone()));
                }
            }
        }
        let mutes = self.mutes.of(number);
        chosen.extend(mutes.map(|(channel, scope)| (channel, scope.clone(), Mode::Never)));
        chosen
    }

    /// Splits a set by the mode that applies to a type: type before category before all categories before none. A
    /// digest that is no longer configured is as if it were not chosen.
    pub(crate) fn split(
        &self,
        channel: ChannelNo,
        of_type: &Type,
        mut who: RoaringBitmap,
    ) -> Vec<(Option<Mode>, RoaringBitmap)> {
        let mut parts = Vec::new();
        for scope in scopes(of_type) {
            let Some(modes) = self.chosen.get(&(channel, scope)) else {
                continue;
            };
            for (mode, chosen) in modes.iter().filter(|(mode, _)| of_type.knows(channel, mode)) {
                let part = &who & chosen;
                if !part.is_empty() {
                    who -= &part;
                    parts.push((Some(mode.clone()), part));
                }
            }
        }
        if !who.is_empty() {
            parts.push((None, who));
        }
        parts
    }

    /// The preference that applies to a type for one recipient.
    pub(crate) fn applying(
        &self,
        number: u32,
        channel: ChannelNo,
        of_type: &Type,
    ) -> Option<(PreferenceScope, &Mode)> {
        scopes(of_type).into_iter().find_map(|scope| {
            let modes = self.chosen.get(&(channel, scope.clone()))?;
            let mut chosen = modes.iter().filter(|(_, who)| who.contains(number));
            let (mode, _) = chosen.find(|(mode, _)| of_type.knows(channel, mode))?;
            Some((scope, mode))
        })
    }

    /// Splits a set by the lane that a type's entries take; `None` = never.
    pub(crate) fn lanes(
        &self,
        channel: ChannelNo,
        of_type: &Type,
        paused: &Paused,
        who: RoaringBitmap,
    ) -> impl Iterator<Item = (Option<LaneNo>, RoaringBitmap)> {
        self.split(channel, of_type, who)
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
    use crate::rules::compiled::Version;
    use crate::rules::names::Names;
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
            limits: crate::Limits::default(),
            presentation: Default::default(),
            caps: Vec::new(),
            resolver: None,
            feedback: Default::default(),
            users: None,
            hooks: Vec::new(),
        }
    }

    #[test]
    fn a_type_goes_before_its_category_and_both_before_all_categories() {
        let (version, _) = Version::new(1, rules(), &mut Names::default());
        let t = version.of_type(TypeNo(0)).expect("the only type has the first number");
        let mut preferences = Preferences::default();
        let category = || PreferenceScope::Category("c".to_owned());
        let of_type = || PreferenceScope::Type("t".to_owned());
        preferences.choose(1, EMAIL_NO, category(), Mode::Never);
        preferences.choose(2, EMAIL_NO, category(), Mode::Never);
        preferences.choose(2, EMAIL_NO, of_type(), Mode::Immediate);
        preferences.choose(3, EMAIL_NO, of_type(), Mode::Digest("gone".to_owned()));
        let everything = || PreferenceScope::AllCategories;
        preferences.choose(1, EMAIL_NO, everything(), Mode::Immediate);
        preferences.choose(4, EMAIL_NO, everything(), Mode::Never);
        let all: RoaringBitmap = (0..5).collect();
        let parts = preferences.split(EMAIL_NO, t, all.clone());
        let expected = [
            (Some(Mode::Immediate), vec![2]),
            (Some(Mode::Never), vec![1]),
            (Some(Mode::Never), vec![4]),
            (None, vec![0, 3]),
        ];
        assert_eq!(parts.len(), expected.len());
        for (part, (mode, who)) in parts.iter().zip(expected) {
            assert_eq!((&part.0, part.1.iter().collect::<Vec<_>>()), (&mode, who));
        }
        let applying = |number| preferences.applying(number, EMAIL_NO, t);
        assert_eq!(applying(2), Some((of_type(), &Mode::Immediate)));
        assert_eq!(applying(4), Some((everything(), &Mode::Never)));
        assert_eq!(applying(3), None);
        preferences.choose(2, EMAIL_NO, of_type(), Mode::Default);
        assert_eq!(preferences.of(2), vec![(EMAIL_NO, category(), Mode::Never)]);
        assert_eq!(preferences.split(INBOX_NO, t, all).len(), 1, "another channel");
    }
}
