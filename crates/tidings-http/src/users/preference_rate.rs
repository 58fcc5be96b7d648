//! The rate at which an end user changes preferences: each change may cost the host a call of a hook, and one user's
//! calls must not delay those of others.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Mutex, PoisonError};

use tidings_core::model::{Choice, SECOND_MS};
use tidings_core::{Id, Instant};

use crate::error::{Code, Problem};

/// The time in milliseconds that one change of a line takes, and how many may come at once.
const LINE: Rate = Rate { each_ms: SECOND_MS, burst: 10 };

/// The same of all lines of a recipient together. A list longer than that is taken as a whole.
const ALL: Rate = Rate { each_ms: SECOND_MS / 50, burst: 1_000 };

/// The number of lines from which on those that may change again are dropped from memory.
const SWEEP_FROM: usize = 4_096;

/// A rate (GCRA): of each line only the instant is kept at which what it has used is free again.
#[derive(Clone, Copy)]
struct Rate {
    each_ms: i64,
    burst: i64,
}

impl Rate {
    /// The instant at which all is free again after a number of further changes; `None` = they are too many now.
    fn after(self, free_at: Instant, count: usize, now: Instant) -> Option<Instant> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let used_ms = (free_at.0 - now.0).max(0);
        let room_ms = self.each_ms * self.burst - used_ms;
        let takes_ms = self.each_ms.saturating_mul(count);
        (takes_ms <= room_ms || used_ms == 0).then(|| now.plus_ms(used_ms.saturating_add(takes_ms)))
    }
}

/// The changes of all recipients of a node, as far as they count.
#[derive(Default)]
pub(crate) struct PreferenceRate(Mutex<PreferenceRates>);

#[derive(Default)]
struct PreferenceRates {
    /// The instants at which lines and recipients are free again, by their hash.
    free_at: BTreeMap<u64, Instant>,
    swept: Option<Instant>,
}

impl PreferenceRate {
    /// Counts changes of a recipient: all of them, or none.
    ///
    /// # Errors
    /// [`Code::Busy`].
    pub(crate) fn take(
        &self,
        recipient: &Id,
        tenant: Option<&Id>,
        chosen: &[Choice],
        now: Instant,
    ) -> Result<(), Problem> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut after = BTreeMap::new();
        let free_at = |key| lines.free_at.get(&key).copied().unwrap_or(now);
        for choice in chosen {
            let tenant = choice.tenant.as_ref().or(tenant);
            let key = hash(&(recipient, tenant, &choice.channel, &choice.scope));
            let busy =
                || over("each preference may change once a second, after 10 changes at once");
            after.insert(key, LINE.after(free_at(key), 1, now).ok_or_else(busy)?);
        }
        let key = hash(&recipient);
        let busy = || over("a recipient may change 50 preferences a second, after 1000 at once");
        after.insert(key, ALL.after(free_at(key), chosen.len(), now).ok_or_else(busy)?);
        lines.free_at.extend(after);
        if lines.free_at.len() >= SWEEP_FROM
            && lines.swept.is_none_or(|at| at.plus_ms(SECOND_MS) <= now)
        {
            lines.free_at.retain(|_, free_at| *free_at > now);
            lines.swept = Some(now);
        }
        Ok(())
    }
}

fn over(rate: &str) -> Problem {
    Problem::new(Code::Busy, format!("too many changes of preferences: {rate}"))
}

fn hash(of: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use tidings_core::model::{Mode, PreferenceScope};

    use super::*;

    fn line(number: usize) -> Choice {
        Choice {
            scope: PreferenceScope::Type(format!("t{number}")),
            channel: "email".to_owned(),
            mode: Mode::Never,
            tenant: None,
        }
    }

    #[test]
    fn c7_a_line_changes_once_a_second_after_a_burst_and_others_are_not_concerned() {
        let (rate, ana, ben) =
            (PreferenceRate::default(), Id::new("ana").unwrap(), Id::new("ben").unwrap());
        let take =
            |who: &Id, number, at| rate.take(who, None, &[line(number)], Instant(at)).is_ok();
        for _ in 0..LINE.burst {
            assert!(take(&ana, 1, 0));
        }
        assert!(!take(&ana, 1, 0) && !take(&ana, 1, 999), "too many");
        assert!(take(&ana, 2, 0) && take(&ben, 1, 0), "other lines, other people");
        assert!(take(&ana, 1, 1_000) && !take(&ana, 1, 1_000), "one a second");
        // A list is taken as a whole or not at all.
        let both = [line(1), line(3)];
        assert!(rate.take(&ana, None, &both, Instant(1_000)).is_err());
        for _ in 0..LINE.burst {
            assert!(take(&ana, 3, 1_000), "nothing was counted of it");
        }
    }

    #[test]
    fn c7_a_page_of_preferences_is_taken_and_a_flood_is_not() {
        let (rate, ana) = (PreferenceRate::default(), Id::new("ana").unwrap());
        let page: Vec<Choice> = (0..350).map(line).collect();
        let mut at = 0;
        let mut taken = 0;
        // Ten minutes without a pause.
        while at < 600_000 {
            taken += page.len() * usize::from(rate.take(&ana, None, &page, Instant(at)).is_ok());
            at += 10;
        }
        assert!((20_000..32_000).contains(&taken), "{taken}");
        let whole: Vec<Choice> = (0..5_000).map(line).collect();
        assert!(rate.take(&Id::new("ben").unwrap(), None, &whole, Instant(at)).is_ok());
    }

    #[test]
    fn c7_what_is_free_again_is_forgotten() {
        let rate = PreferenceRate::default();
        for number in 0..50_000 {
            let who = Id::new(&format!("r{number}")).unwrap();
            rate.take(&who, None, &[line(1)], Instant(i64::from(number) * 10)).unwrap();
        }
        assert!(rate.0.lock().unwrap().free_at.len() < 2 * SWEEP_FROM);
    }
}
