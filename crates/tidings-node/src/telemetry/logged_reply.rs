//! The reply of a provider in a log line: providers repeat addresses, which belong in no log.

/// Number of digits from which a word is taken for a telephone number.
const DIGITS_MIN: usize = 8;

/// Length in bytes from which a word is taken for the token of a device.
const TOKEN_BYTES: usize = 32;

/// The text without its words that may be an address: mail addresses, URLs, telephone numbers, tokens of devices.
pub(crate) fn without_addresses(said: &str) -> String {
    let mut words = Vec::new();
    let mut is_in_number = false;
    for word in said.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '+');
        let is_digits =
            !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit() || "-./()".contains(c));
        is_in_number = bare.starts_with('+') || is_in_number && is_digits;
        words.push(if is_in_number || may_be_address(bare) { "…" } else { word });
    }
    words.join(" ")
}

fn may_be_address(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits >= DIGITS_MIN && word.bytes().all(|byte| !byte.is_ascii_alphabetic());
    word.contains('@') || word.contains("://") || word.len() >= TOKEN_BYTES || is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_keeps_its_words_and_loses_addresses() {
        for (said, logged) in [
            ("550 5.1.1 <ada@example.org>: unknown here", "550 5.1.1 … unknown here"),
            (
                "451 4.7.1 try again in 300 s (queue 4F2A9)",
                "451 4.7.1 try again in 300 s (queue 4F2A9)",
            ),
            ("400 to +34 600 11 12 12 is not possible", "400 to … … … … … is not possible"),
            ("34600111212: refused", "… refused"),
            ("410 https://push.example/x is gone", "410 … is gone"),
        ] {
            assert_eq!(without_addresses(said), logged);
        }
        let token = "a".repeat(64);
        assert_eq!(without_addresses(&format!("BadDeviceToken {token}")), "BadDeviceToken …");
    }
}
