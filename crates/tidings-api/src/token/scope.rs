//! Scopes: what a token opens.

use tidings_config::wording::{all_of, did_you_mean, quoted};

use crate::body::Fault;

/// The part of `/v1/me` that a token opens, or a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(u8);

/// The words of scopes.
const WORDS: [(&str, Scope); 5] = [
    ("inbox", Scope::INBOX),
    ("inbox:read", Scope::INBOX_READ),
    ("preferences", Scope::PREFERENCES),
    ("subscriptions", Scope::SUBSCRIPTIONS),
    ("push", Scope::PUSH),
];

impl Scope {
    /// Reading of the inbox, and of what waits.
    pub const INBOX_READ: Self = Self(1);
    /// The same with marks, and sending now.
    pub const INBOX: Self = Self(1 | 2);
    /// Preferences.
    pub const PREFERENCES: Self = Self(4);
    /// Subscriptions.
    pub const SUBSCRIPTIONS: Self = Self(8);
    /// Push addresses.
    pub const PUSH: Self = Self(16);
    /// Everything.
    pub const ALL: Self = Self(1 | 2 | 4 | 8 | 16);

    /// The scope of words with spaces between. Words that are not known give nothing.
    #[must_use]
    pub fn of(words: &str) -> Self {
        let known = words.split(' ').filter_map(Self::of_word);
        known.fold(Self(0), |all, one| Self(all.0 | one.0))
    }

    /// The scope of one word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        WORDS.iter().find(|(name, _)| *name == word).map(|(_, scope)| *scope)
    }

    /// The scopes that both open.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns true if it opens all that is needed.
    #[must_use]
    pub fn opens(self, needed: Self) -> bool {
        self.0 & needed.0 == needed.0
    }

    /// The word of a scope that a call needs.
    #[must_use]
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(_, scope)| *scope == self).map_or("", |(word, _)| word)
    }

    /// Checks the words of a scope.
    ///
    /// # Errors
    /// A word is not known, or there is none.
    pub fn check(words: &str) -> Result<(), Fault> {
        let known = || WORDS.iter().map(|(word, _)| *word);
        let hint = || format!("the words are {}", all_of(&known().collect::<Vec<_>>()));
        if words.split(' ').all(str::is_empty) {
            return Err(Fault::new("`scope` names nothing", hint()));
        }
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            if Self::of_word(word).is_none() {
                let hint = did_you_mean(word, known()).unwrap_or_else(hint);
                return Err(Fault::new(
                    format!("`scope` has the unknown word {}", quoted(word)),
                    hint,
                ));
            }
        }
        Ok(())
    }
}
