//! Origins of changes, and the lines of the log that they leave: an operator asks who paused a channel.

mod line;
mod origin;
mod role;

pub use line::{ChangeId, ChangeIdError, ChangeLine, ChangeSubject, ChangedField, SubjectKind};
pub(crate) use line::{DONE, OF_INTAKE};
pub use origin::{Author, AuthorKind, Origin, Via};
pub use role::Role;

/// Declares an enum whose variants have words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$about_one:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$about_one])* #[serde(rename = $word)] $variant),*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }

            /// The one with a word.
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.word() == word)
            }
        }
    };
}

use words;
