//! Topics: slash paths. A follower of one is notified of everything below it.

/// The topics whose subscribers are notified of an event to `topic`, nearest first: itself, then every
/// shorter path that ends before a `/` of it (contract, section 2: followers of `a/b` are notified of
/// `a/b/c`, not of `a/bc`).
///
/// Slashes are taken literally, wherever they stand: `/a//b/` is heard by `/a//b/`, `/a//b`, `/a/`
/// and `/a`. The empty path before a leading slash is no topic.
///
/// # Examples
/// ```
/// use tidings_core::topic::heard_by;
///
/// let heard = |topic| heard_by(topic).collect::<Vec<_>>();
/// assert_eq!(heard("artist/42/works"), ["artist/42/works", "artist/42", "artist"]);
/// // `artist/4` is a prefix, but not a parent.
/// assert!(!heard("artist/42").contains(&"artist/4"));
/// ```
pub fn heard_by(topic: &str) -> impl Iterator<Item = &str> {
    let above = topic.rmatch_indices('/').map(|(at, _)| &topic[..at]);
    std::iter::once(topic)
        .chain(above)
        .filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_heard_by_what_stands_above() {
        let heard = |topic| heard_by(topic).collect::<Vec<_>>();
        assert_eq!(heard("a"), ["a"]);
        assert_eq!(heard("a/b/c"), ["a/b/c", "a/b", "a"]);
        assert_eq!(heard("a/bc"), ["a/bc", "a"]);
        assert_eq!(heard("/a//b/"), ["/a//b/", "/a//b", "/a/", "/a"]);
        assert_eq!(heard("//"), ["//", "/"]);
        assert_eq!(heard("künstler/ä"), ["künstler/ä", "künstler"]);
        assert!(heard("").is_empty());
    }
}
