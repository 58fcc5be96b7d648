//! Words of refusals, as servers write them, from `phrases.tsv`.

use std::sync::LazyLock;

use super::OperatorFault;

/// A list of phrases.
pub(super) type PhraseList = LazyLock<Vec<&'static str>>;

/// Lists of phrases, each of a fault; the first that has one decides.
pub(super) type FaultPhrases = LazyLock<Vec<(OperatorFault, Vec<&'static str>)>>;

/// Words about the recipient's own rules: they outweigh what they say of senders.
pub(super) static OF_RECIPIENT: PhraseList = LazyLock::new(|| phrases("of_recipient"));
/// Words of an address that has come to its end, though they name a state that may pass elsewhere.
pub(super) static ENDED: PhraseList = LazyLock::new(|| phrases("ended"));
/// Words that name us as the cause, whatever else is said.
pub(super) static STRONG: FaultPhrases = LazyLock::new(|| by_fault("strong"));
/// Words that name us unless the rest says that there is no such address.
pub(super) static WEAK: FaultPhrases = LazyLock::new(|| by_fault("weak"));
/// Words about a mailbox that is full, disabled or unused.
pub(super) static MAILBOX: PhraseList = LazyLock::new(|| phrases("mailbox"));
/// Words beside those of a mailbox that make them words about us or about the server's own system.
pub(super) static SENDERS: PhraseList = LazyLock::new(|| phrases("senders"));
/// Words about a mailbox that stands, or about now.
pub(super) static SOFT: PhraseList = LazyLock::new(|| phrases("soft"));
/// Words about the size of a mail.
pub(super) static SIZE: PhraseList = LazyLock::new(|| phrases("size"));
/// Words that tell of an address that does not exist where they are the answer to the address.
pub(super) static GONE_AT_RECIPIENT: PhraseList = LazyLock::new(|| phrases("gone_at_recipient"));
/// Words that need no noun beside them.
pub(super) static GONE: PhraseList = LazyLock::new(|| phrases("gone"));
/// Words of scripts without spaces.
pub(super) static GONE_UNSPACED: PhraseList = LazyLock::new(|| phrases("gone_unspaced"));
/// Words of such scripts about a mailbox that stands.
pub(super) static SOFT_UNSPACED: PhraseList = LazyLock::new(|| phrases("soft_unspaced"));
/// Words of such scripts about a mailbox that is full.
pub(super) static FULL_UNSPACED: PhraseList = LazyLock::new(|| phrases("full_unspaced"));
/// Words of such scripts about us.
pub(super) static OURS_UNSPACED: PhraseList = LazyLock::new(|| phrases("ours_unspaced"));
/// Nouns for what may not exist.
pub(super) static NOUNS: PhraseList = LazyLock::new(|| phrases("nouns"));
/// Words that deny beside such a noun.
pub(super) static DENIALS: PhraseList = LazyLock::new(|| phrases("denials"));

/// The names of lists and their phrases, in the order of the file.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("phrases.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t'))
}

fn phrases(list: &str) -> Vec<&'static str> {
    rows().filter(|(of, _)| *of == list).map(|(_, phrase)| phrase).collect()
}

fn by_fault(list: &str) -> Vec<(OperatorFault, Vec<&'static str>)> {
    let mut all: Vec<(OperatorFault, Vec<&'static str>)> = Vec::new();
    for (of, phrase) in rows() {
        let fault =
            of.split_once('.').filter(|(of, _)| *of == list).and_then(|(_, name)| fault(name));
        match (fault, all.last_mut()) {
            (None, _) => {}
            (Some(fault), Some((last, phrases))) if *last == fault => phrases.push(phrase),
            (Some(fault), _) => all.push((fault, vec![phrase])),
        }
    }
    all
}

fn fault(name: &str) -> Option<OperatorFault> {
    Some(match name {
        "name" => OperatorFault::Name,
        "authentication" => OperatorFault::Authentication,
        "sender" => OperatorFault::Sender,
        "access" => OperatorFault::Access,
        "quota" => OperatorFault::Quota,
        "reputation" => OperatorFault::Reputation,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_the_file_is_in_a_list() {
        let lists = [
            &OF_RECIPIENT,
            &ENDED,
            &MAILBOX,
            &SENDERS,
            &SOFT,
            &SIZE,
            &GONE_AT_RECIPIENT,
            &GONE,
            &GONE_UNSPACED,
            &SOFT_UNSPACED,
            &FULL_UNSPACED,
            &OURS_UNSPACED,
            &NOUNS,
            &DENIALS,
        ];
        let of_faults = STRONG.iter().chain(WEAK.iter()).map(|(_, phrases)| phrases.len());
        let listed = lists.iter().map(|list| list.len()).chain(of_faults).collect::<Vec<_>>();
        assert!(!listed.contains(&0), "{listed:?}");
        let lines = include_str!("phrases.tsv").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(listed.iter().sum::<usize>(), lines.count());
    }
}
