//! Wording of faults: foreign text is quoted safely, lists are sentences, near misses are suggested.
//!
//! Text of others ends up on terminals and in logs, so it is escaped and shortened here.

/// The most characters of foreign text that a fault repeats.
const QUOTED_CHARS_MAX: usize = 60;
/// The longest word for which a near miss is looked for: the search is quadratic in it.
const WORD_CHARS_MAX: usize = 64;

/// Foreign text between backticks, with control characters escaped and the end cut off where long.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED_CHARS_MAX).flat_map(visible).collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

fn visible(c: char) -> Vec<char> {
    // Marks that turn the direction of writing round could make a fault read as something else.
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || turns { c.escape_unicode().collect() } else { vec![c] }
}

/// Words as a sentence lists them: `a`, `b` or `c`.
#[must_use]
pub fn one_of<S: AsRef<str>>(words: &[S]) -> String {
    listed(words, "or")
}

/// Words as a sentence lists them: `a`, `b` and `c`.
#[must_use]
pub fn all_of<S: AsRef<str>>(words: &[S]) -> String {
    listed(words, "and")
}

fn listed<S: AsRef<str>>(words: &[S], joined_by: &str) -> String {
    let each: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    match each.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {joined_by} {last}", rest.join(", ")),
    }
}

/// Words of other notification APIs and their names here.
const SYNONYMS: [(&str, &str); 13] = [
    ("attributes", "data"),
    ("avatar", "image"),
    ("display_name", "title"),
    ("label", "title"),
    ("language", "locale"),
    ("link", "url"),
    ("metadata", "data"),
    ("name", "title"),
    ("payload", "data"),
    ("phone", "addresses"),
    ("properties", "data"),
    ("time_zone", "tz"),
    ("timezone", "tz"),
];

/// The candidate that was probably meant, if one is near enough or has the same meaning.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = folded(word)?;
    let same = SYNONYMS.iter().find(|(other, _)| *other == word);
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(same) = same.and_then(|(_, same)| candidates.iter().find(|name| *name == same)) {
        return Some(same);
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = folded(candidate)?;
            let distance = strsim::osa_distance(&word, &other);
            let length = other.chars().count();
            let bound = (word.chars().count().max(length) / 3).max(1);
            (distance <= bound && distance < length).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// A hint for a word that is not among `candidates`: the near miss, or what there is.
#[must_use]
pub fn did_you_mean<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str> + Clone,
) -> Option<String> {
    if let Some(near) = nearest(word, candidates.clone()) {
        return Some(format!("did you mean {}?", quoted(near)));
    }
    const SHOWN_MAX: usize = 20;
    let all: Vec<String> = candidates.into_iter().take(SHOWN_MAX + 1).map(quoted).collect();
    match all.len() {
        0 => None,
        1..=SHOWN_MAX => Some(format!("known: {}", all.join(", "))),
        _ => Some(format!("known: {} and more", all[..SHOWN_MAX].join(", "))),
    }
}

fn folded(word: &str) -> Option<String> {
    let is_bearable = word.chars().take(WORD_CHARS_MAX + 1).count() <= WORD_CHARS_MAX;
    (!word.is_empty() && is_bearable).then(|| word.to_ascii_lowercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_far_ones_not() {
        let keys = ["policy", "quiet", "max_wait", "lane"];
        assert_eq!(nearest("polcy", keys), Some("policy"));
        assert_eq!(nearest("max-wait", keys), Some("max_wait"));
        assert_eq!(nearest("qiuet", keys), Some("quiet"));
        assert_eq!(nearest("LANE", keys), Some("lane"));
        assert_eq!(nearest("template", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn s4_words_of_other_apis_are_understood() {
        assert_eq!(nearest("timezone", ["id", "tz"]), Some("tz"));
        assert_eq!(nearest("time-zone", ["id", "tz"]), Some("tz"));
        assert_eq!(nearest("payload", ["type", "data"]), Some("data"));
        assert_eq!(nearest("payload", ["type"]), None);
    }

    #[test]
    fn foreign_text_is_escaped_and_shortened() {
        assert_eq!(quoted("a\u{1b}[2Jb"), "`a\\u{1b}[2Jb`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), QUOTED_CHARS_MAX + 3);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(one_of(&["a"]), "`a`");
        assert_eq!(one_of(&["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(did_you_mean("zzz", ["a", "b"]), Some("known: `a`, `b`".to_owned()));
        assert_eq!(did_you_mean("zzz", []), None);
    }
}
