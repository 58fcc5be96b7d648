//! The key that signs mails: `dkim` of a channel.

use tidings_core::rules::{ChannelRules, DkimRules};
use tidings_mail::Sender;
use tidings_node::channel::signer;

use crate::walk::{ConfigReader, Section};
use crate::wording::quoted;

const HINT: &str =
    "write `{ domain = \"example.org\", selector = \"t1\", key_file = \"dkim.pem\" }`";

/// The most characters of a domain, and of a label of one.
const DOMAIN_CHARS_MAX: usize = 253;
const LABEL_CHARS_MAX: usize = 63;

/// Reads `dkim` of a channel. Where the configuration is a file, the key is looked at, too: beside it, unless its
/// path is absolute.
pub(crate) fn dkim(walk: &mut ConfigReader, section: &Section<'_>) -> Option<DkimRules> {
    let table = walk.section(section, "dkim", HINT)?;
    let keys = ["domain", "selector", "key_file"];
    walk.only(&table, &keys);
    for key in keys {
        if !table.has(key) {
            walk.missing(&table, key, HINT);
        }
    }
    let domain = name(walk, &table, "domain", "a domain in its ASCII form");
    let selector = name(walk, &table, "selector", "letters, digits, `-` and `.`");
    let key_file = key_file(walk, &table);
    Some(DkimRules { domain: domain?, selector: selector?, key_file: key_file? })
}

/// The path of the key, which is tried where the configuration is a file.
fn key_file(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let hint = "write a path in quotes, such as `\"dkim.pem\"`";
    let file = walk.text(section, "key_file", hint)?;
    let Some(directory) = &walk.directory else {
        return Some(file.value.to_owned());
    };
    let dkim = DkimRules {
        domain: String::new(),
        selector: String::new(),
        key_file: directory.join(file.value).display().to_string(),
    };
    let Err(fault) = signer(&dkim) else {
        return Some(dkim.key_file);
    };
    let path = quoted(&section.below("key_file"));
    walk.bad(&file.span, format!("{path}: {fault}"), fault.help());
    None
}

/// The labels of a domain.
fn name(walk: &mut ConfigReader, section: &Section<'_>, key: &str, what: &str) -> Option<String> {
    let hint = format!("write {what}");
    let text = walk.text(section, key, &hint)?;
    let is_label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=LABEL_CHARS_MAX).contains(&label.len()) && label.bytes().all(plain)
    };
    if text.value.len() <= DOMAIN_CHARS_MAX && text.value.split('.').all(is_label) {
        return Some(text.value.to_ascii_lowercase());
    }
    let path = section.below(key);
    let reason = format!("{} cannot be {}", quoted(&path), quoted(text.value));
    walk.bad(&text.span, reason, hint);
    None
}

/// The warning about a domain that is not the sender's: such a signature does not speak for the sender (DMARC).
pub(crate) fn warning(rules: &ChannelRules) -> Option<String> {
    let domain = &rules.dkim.as_ref()?.domain;
    let sender = Sender::parse(rules.from.as_deref()?).ok()?;
    let host = sender.host().to_ascii_lowercase();
    // Relaxed alignment, the default of DMARC (RFC 7489, section 3.1.1).
    let is_theirs = organization(&host) == organization(domain);
    (!is_theirs).then(|| {
        format!(
            "mails from {host} are signed by {domain}, so the signature does not count for the sender: sign with a \
             domain of {}",
            organization(&host)
        )
    })
}

/// The organizational domain: the public suffix and the label before it (RFC 7489, section 3.2).
fn organization(domain: &str) -> &str {
    psl::domain_str(domain).unwrap_or(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_4_a_signature_counts_within_an_organization() {
        let warned = |from: &str, domain: &str| {
            let dkim = DkimRules {
                domain: domain.to_owned(),
                selector: "t1".to_owned(),
                key_file: "k".to_owned(),
            };
            let from = Some(format!("Art <art@{from}>"));
            warning(&ChannelRules { from, dkim: Some(dkim), ..ChannelRules::default() }).is_some()
        };
        for (from, domain) in [
            ("example.org", "example.org"),
            ("news.example.org", "example.org"),
            ("example.org", "news.example.org"),
            ("a.example.org", "z.example.org"),
            ("a.example.co.uk", "example.co.uk"),
            ("Example.org", "example.org"),
            ("localhost", "localhost"),
        ] {
            assert!(!warned(from, domain), "{from} {domain}");
        }
        for (from, domain) in [
            ("example.org", "other.example"),
            ("example.org", "org"),
            ("one.co.uk", "other.co.uk"),
            ("a.github.io", "b.github.io"),
        ] {
            assert!(warned(from, domain), "{from} {domain}");
        }
    }
}
