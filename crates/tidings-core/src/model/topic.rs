//! Topics: slash paths. A follower of one is notified of everything below it.

/// The reason why a text is no topic: as written, it would match no follower that its author thinks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// It begins or ends with a slash, or has two in a row.
    #[error("a level of the topic is empty")]
    EmptyLevel,
    /// A level begins or ends with white space.
    #[error("a level of the topic begins or ends with a space")]
    Space,
    /// A level is a wildcard of other systems.
    #[error("topics have no wildcards")]
    Wildcard,
}

impl TopicError {
    /// The way to mend it.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::EmptyLevel => "write names with one slash between two, such as `artist/42`",
            Self::Space => "remove the space",
            Self::Wildcard => {
                "write `artist` for everything below it: `artist/42`, `artist/43/works`"
            }
        }
    }
}

/// Checks that a text is a topic: levels with one slash between two.
///
/// # Errors
/// The rule that it breaks.
///
/// # Examples
/// ```
/// use tidings_core::model::{TopicError, check_topic};
///
/// assert_eq!(check_topic("artist/42/works"), Ok(()));
/// assert_eq!(check_topic("artist//42"), Err(TopicError::EmptyLevel));
/// assert_eq!(check_topic("artist/*"), Err(TopicError::Wildcard));
/// ```
pub fn check_topic(topic: &str) -> Result<(), TopicError> {
    for level in topic.split('/') {
        if level.is_empty() {
            return Err(TopicError::EmptyLevel);
        }
        if level.trim() != level {
            return Err(TopicError::Space);
        }
        if matches!(level, "*" | "**" | "+" | "#") {
            return Err(TopicError::Wildcard);
        }
    }
    Ok(())
}

/// The topics whose subscribers are notified of an event to `topic`, nearest first: itself, then every
/// shorter path that ends before a `/` of it (contract, section 2: followers of `a/b` are notified of
/// `a/b/c`, not of `a/bc`).
///
/// Slashes are taken literally, wherever they stand: `/a//b/` is heard by `/a//b/`, `/a//b`, `/a/`
/// and `/a`. The empty path before a leading slash is no topic.
///
/// # Examples
/// ```
/// use tidings_core::model::followed_paths;
///
/// let heard = |topic| followed_paths(topic).collect::<Vec<_>>();
/// assert_eq!(heard("artist/42/works"), ["artist/42/works", "artist/42", "artist"]);
/// // `artist/4` is a prefix, but not a parent.
/// assert!(!heard("artist/42").contains(&"artist/4"));
/// ```
pub fn followed_paths(topic: &str) -> impl Iterator<Item = &str> {
    let above = topic.rmatch_indices('/').map(|(at, _)| &topic[..at]);
    std::iter::once(topic).chain(above).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_19_a_topic_that_no_follower_would_match_is_refused() {
        for topic in ["a", "a/b/c", "künstler/ä b", "a*/b", "c#/c++", "a.b/-"] {
            assert_eq!(check_topic(topic), Ok(()), "{topic}");
        }
        for topic in ["", "/", "a/", "/a", "a//b", "a///b"] {
            assert_eq!(check_topic(topic), Err(TopicError::EmptyLevel), "{topic:?}");
        }
        for topic in [" a", "a /b", "a/ b", "a\u{a0}"] {
            assert_eq!(check_topic(topic), Err(TopicError::Space), "{topic:?}");
        }
        for topic in ["*", "a/*", "+/a", "a/#", "a/**"] {
            assert_eq!(check_topic(topic), Err(TopicError::Wildcard), "{topic:?}");
        }
    }

    #[test]
    fn paths_are_followed_paths_what_stands_above() {
        let heard = |topic| followed_paths(topic).collect::<Vec<_>>();
        assert_eq!(heard("a"), ["a"]);
        assert_eq!(heard("a/b/c"), ["a/b/c", "a/b", "a"]);
        assert_eq!(heard("a/bc"), ["a/bc", "a"]);
        assert_eq!(heard("/a//b/"), ["/a//b/", "/a//b", "/a/", "/a"]);
        assert_eq!(heard("//"), ["//", "/"]);
        assert_eq!(heard("künstler/ä"), ["künstler/ä", "künstler"]);
        assert!(heard("").is_empty());
    }
}
