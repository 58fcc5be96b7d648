//! Confirmations: the second step of a change, by the same key, with the same arguments, once, and soon.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

/// The time within which a change is confirmed.
const CONFIRMED_WITHIN: SignedDuration = SignedDuration::from_mins(5);

/// The most confirmations of a key that wait; the oldest gives way.
const WAITING_MAX: usize = 60;

/// A change whose first step a key has made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProposedChange {
    /// The id of the key.
    pub(super) key: String,
    /// What the tool was called with.
    pub(super) arguments: Map<String, Value>,
    /// The number of people that the first step named; `None` = the change counts nobody.
    pub(super) people: Option<u64>,
}

/// A change that waits for its confirmation.
#[derive(Clone, Debug)]
struct WaitingChange {
    proposed: ProposedChange,
    until: Timestamp,
}

/// Why a confirmation is refused. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfirmFault {
    /// No change waits for it: it is made up, used, older than five minutes, or another key's.
    Unknown,
    /// It confirms a change with other arguments.
    OtherArguments,
}

/// The changes that wait for their confirmation, by the token that confirms each. They are forgotten at a restart.
#[derive(Debug, Default)]
pub(super) struct Confirmations(Mutex<HashMap<String, WaitingChange>>);

impl Confirmations {
    /// Lets a change wait for its token.
    pub(super) fn wait(&self, token: &str, proposed: ProposedChange, now: Timestamp) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, change| now < change.until);
        let of_key = waiting.iter().filter(|(_, change)| change.proposed.key == proposed.key);
        if of_key.clone().count() >= WAITING_MAX
            && let Some(oldest) = of_key.min_by_key(|(_, change)| change.until)
        {
            let oldest = oldest.0.clone();
            waiting.remove(&oldest);
        }
        let until = now.saturating_add(CONFIRMED_WITHIN).unwrap_or(now);
        waiting.insert(token.to_owned(), WaitingChange { proposed, until });
    }

    /// Takes the change of a token away, for good: it is made once. Returns the number of people that it named.
    ///
    /// # Errors
    /// The token confirms nothing, or something else; what waits goes on waiting.
    pub(super) fn take(
        &self,
        token: &str,
        key: &str,
        arguments: &Map<String, Value>,
        now: Timestamp,
    ) -> Result<Option<u64>, ConfirmFault> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let change = waiting.get(token).filter(|change| now < change.until);
        let change = change.filter(|change| change.proposed.key == key);
        let change = change.ok_or(ConfirmFault::Unknown)?;
        if change.proposed.arguments != *arguments {
            return Err(ConfirmFault::OtherArguments);
        }
        let people = change.proposed.people;
        waiting.remove(token);
        Ok(people)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(recipient: &str) -> Map<String, Value> {
        json!({"recipient": recipient}).as_object().unwrap().clone()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_token_confirms_one_change_of_one_key_once_within_five_minutes() {
        let (ana, ben) = (of("ana"), of("ben"));
        let all = Confirmations::default();
        let proposed =
            ProposedChange { key: "k".to_owned(), arguments: ana.clone(), people: Some(3) };
        all.wait("t", proposed.clone(), at(0));
        assert_eq!(all.take("other", "k", &ana, at(1)), Err(ConfirmFault::Unknown));
        assert_eq!(all.take("t", "k2", &ana, at(1)), Err(ConfirmFault::Unknown));
        assert_eq!(all.take("t", "k", &ben, at(1)), Err(ConfirmFault::OtherArguments));
        assert_eq!(all.take("t", "k", &ana, at(299)), Ok(Some(3)));
        assert_eq!(all.take("t", "k", &ana, at(299)), Err(ConfirmFault::Unknown));
        all.wait("old", proposed, at(0));
        assert_eq!(all.take("old", "k", &ana, at(300)), Err(ConfirmFault::Unknown));
    }

    #[test]
    fn a_key_that_asks_on_and_on_loses_its_oldest_change_and_no_other_key_does() {
        let all = Confirmations::default();
        let proposed =
            |key: &str| ProposedChange { key: key.to_owned(), arguments: Map::new(), people: None };
        all.wait("other", proposed("b"), at(0));
        for second in 0..=60 {
            all.wait(&second.to_string(), proposed("a"), at(second));
        }
        assert_eq!(all.take("0", "a", &Map::new(), at(61)), Err(ConfirmFault::Unknown));
        assert_eq!(all.take("1", "a", &Map::new(), at(61)), Ok(None));
        assert_eq!(all.take("other", "b", &Map::new(), at(61)), Ok(None));
    }
}
