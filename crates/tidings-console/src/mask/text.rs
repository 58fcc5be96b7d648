//! The masked forms of names, addresses, and texts that may quote addresses.

/// A name or a title: of a word the first letter stays, unless it is the only one.
pub(crate) fn name(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    match word.chars().count() {
        0 | 1 => "•".repeat(word.chars().count()),
        _ => first_letter(word),
    }
}

/// The first letter of a text, and a dot for each of the others.
fn first_letter(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(String::from).unwrap_or_default();
    first + &"•".repeat(letters.count())
}

/// An address of any channel.
pub(crate) fn address(address: &str) -> String {
    let is_phone =
        address.starts_with('+') && address[1..].bytes().all(|byte| byte.is_ascii_digit());
    match address.rsplit_once('@') {
        Some((local, domain)) if !local.is_empty() && !domain.is_empty() => mail(local, domain),
        _ if is_phone && address.len() > 5 => phone(address),
        _ => "••••".to_owned(),
    }
}

/// The first letters of the local part and of the domain, and the last label.
fn mail(local: &str, domain: &str) -> String {
    match domain.rsplit_once('.') {
        Some((domain, end)) => format!("{}@{}.{end}", first_letter(local), first_letter(domain)),
        None => format!("{}@{}", first_letter(local), first_letter(domain)),
    }
}

/// The plus with two digits, and the last two.
fn phone(number: &str) -> String {
    let (begin, end) = (&number[..3], &number[number.len() - 2..]);
    format!("{begin}{}{end}", "•".repeat(number.len() - 5))
}

/// A text with the addresses in it masked: of mail, and phone numbers of eight digits or more.
pub(crate) fn without_addresses(text: &str) -> String {
    let is_part = |letter: char| !letter.is_whitespace() && !"<>()[]{},;:\"'`|".contains(letter);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_part) {
        let (before, from) = rest.split_at(begin);
        let end = from.find(|letter| !is_part(letter)).unwrap_or(from.len());
        let (token, after) = from.split_at(end);
        out.push_str(before);
        out.push_str(&shown(token));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A part of a text without spaces: masked if it is an address.
fn shown(token: &str) -> String {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let is_phone = digits >= 8 && (token.starts_with('+') || digits == token.len());
    if token.contains('@') {
        // A full stop ends the sentence, not the address.
        let address = token.trim_end_matches('.');
        let masked = match address.rsplit_once('@') {
            Some((local, domain)) if !local.is_empty() && !domain.is_empty() => mail(local, domain),
            _ => "••••".to_owned(),
        };
        return masked + &token[address.len()..];
    }
    if is_phone { "••••".to_owned() } else { token.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_forms_keep_what_tells_two_apart_and_no_more() {
        for (address, shown) in [
            ("ana@example.org", "a••@e••••••.org"),
            ("ana+tag@mail.example.co.uk", "a••••••@m••••••••••••••.uk"),
            ("ä@exämple", "ä@e••••••"),
            ("+34612345612", "+34•••••••12"),
            ("+123", "••••"),
            ("https://hooks.example.org/T0/B1", "••••"),
            ("@", "••••"),
            ("", "••••"),
        ] {
            assert_eq!(super::address(address), shown, "{address}");
        }
        for (name, shown) in [
            ("Ana Ruiz", "A•• R•••"),
            ("X", "•"),
            ("  Åsa   de la Cruz ", "Å•• d• l• C•••"),
            ("", ""),
            ("日本", "日•"),
        ] {
            assert_eq!(super::name(name), shown, "{name}");
        }
    }

    #[test]
    fn addresses_within_texts_are_masked() {
        for (text, shown) in [
            ("550 <ana@example.org>: no such user", "550 <a••@e••••••.org>: no such user"),
            ("to ana@example.org.", "to a••@e••••••.org."),
            ("number +34612345612 is off", "number •••• is off"),
            ("451 4.7.0 rate", "451 4.7.0 rate"),
            ("id 4711", "id 4711"),
            ("a@ and @b", "•••• and ••••"),
        ] {
            assert_eq!(without_addresses(text), shown);
        }
    }
}
