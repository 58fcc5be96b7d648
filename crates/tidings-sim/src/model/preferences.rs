//! Preferences of recipients, with a tenant or without, and those of tenants.

use tidings_core::model::{ChangedBy, Choice, Mode, PreferenceScope};

use super::figures::ReceivedBefore;
use super::route::{self, Preferences};
use super::{Model, Refused};

impl Model {
    /// Sets one preference.
    pub(super) fn prefer(
        &mut self,
        person: usize,
        choice: Choice,
        by: ChangedBy,
    ) -> Result<(), Refused> {
        self.named(choice.tenant.as_ref())?;
        may_be_chosen(self, &choice)?;
        self.choose(person, vec![choice], by, None)
    }

    /// Sets preferences. Where they are the `whole` list, of one tenant or of all, what it lacks is the default again.
    pub(super) fn choose(
        &mut self,
        person: usize,
        chosen: Vec<Choice>,
        by: ChangedBy,
        whole: Option<Option<usize>>,
    ) -> Result<(), Refused> {
        let received = ReceivedBefore::before(self, person, &chosen, by)?;
        let mut preferences = self.people[person].preferences.clone();
        if let Some(whose) = whole {
            let replaced = preferences.iter_mut();
            for (_, of) in replaced.filter(|(of, _)| whose.is_none() || **of == whose) {
                of.retain(|(scope, _), mode| was_not_shown(self, scope, mode));
            }
        }
        for choice in chosen {
            let tenant = self.named(choice.tenant.as_ref())?;
            set(preferences.entry(tenant).or_default(), choice);
        }
        let zones = self.zones();
        self.people[person].preferences = preferences;
        self.change_slots(&zones);
        self.reroute(Some(person));
        received.note_muted(self);
        Ok(())
    }

    /// The defaults of a tenant, all of them.
    pub(super) fn defaults_of(&self, chosen: &[Choice]) -> Result<Preferences, Refused> {
        let mut preferences = Preferences::new();
        for choice in chosen {
            if choice.scope.is_mute() {
                return Err(Refused::Mute);
            }
            may_be_chosen(self, choice)?;
            set(&mut preferences, choice.clone());
        }
        Ok(preferences)
    }
}

/// Returns true if a mode is not in the list of preferences that recipients see, so a complete list may lack it: a `never`
/// for a scope that is not configured or required.
fn was_not_shown(model: &Model, scope: &PreferenceScope, mode: &Mode) -> bool {
    let is_configured = match scope {
        PreferenceScope::Type(kind) => model.current().types.contains_key(kind),
        PreferenceScope::Category(name) => model.current().categories.contains_key(name),
        PreferenceScope::AllCategories
        | PreferenceScope::Topic(_)
        | PreferenceScope::Object(_)
        | PreferenceScope::DigestDay(_)
        | PreferenceScope::DigestTime(_) => true,
    };
    *mode == Mode::Never && (!is_configured || is_required(model, scope))
}

fn is_required(model: &Model, scope: &PreferenceScope) -> bool {
    let kind = match scope {
        PreferenceScope::Type(kind) => model.current().types.get(kind),
        _ => None,
    };
    kind.is_some_and(|kind| kind.required)
}

fn may_be_chosen(model: &Model, choice: &Choice) -> Result<(), Refused> {
    if choice.mode == Mode::Never && is_required(model, &choice.scope) {
        return Err(Refused::Required);
    }
    let choose = |name: &String| model.current().digests.get(name).map(|digest| digest.choose);
    let is_open = match (&choice.scope, &choice.mode) {
        (PreferenceScope::DigestDay(name), Mode::Day(_)) => choose(name).map(|open| open.day),
        (PreferenceScope::DigestTime(name), Mode::Time(_)) => choose(name).map(|open| open.minute),
        _ => Some(true),
    };
    if is_open == Some(true) { Ok(()) } else { Err(Refused::DigestTime) }
}

fn set(preferences: &mut Preferences, Choice { scope, channel, mode, .. }: Choice) {
    for channel in route::channels(&channel) {
        match mode {
            Mode::Default => preferences.remove(&(scope.clone(), channel)),
            Mode::Never | Mode::Immediate | Mode::Digest(_) | Mode::Day(_) | Mode::Time(_) => {
                preferences.insert((scope.clone(), channel), mode.clone())
            }
        };
    }
}
