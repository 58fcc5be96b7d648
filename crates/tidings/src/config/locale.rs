//! Tags of languages.

/// Tells whether a text looks like a BCP 47 language tag: subtags of 1 to 8 letters or digits.
pub(crate) fn is_locale(text: &str) -> bool {
    const TAG_BYTES_MAX: usize = 35;
    let subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    text.len() <= TAG_BYTES_MAX
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.split('-').all(subtag)
}
