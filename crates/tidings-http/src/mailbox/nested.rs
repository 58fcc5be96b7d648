//! Mails within mails, which the parser of mails must not meet.

use std::collections::VecDeque;

/// Returns true if a field `Content-Type` names a type that holds mails, wherever it stands. Whitespace within a field's
/// name does not count, as it does not to the parser, and a field ends before the next line that begins with
/// something else.
pub(super) fn may_hold_mails(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"content-type:";
    let (mut matched, mut window) = (0, VecDeque::with_capacity(NAME.len()));
    for (at, byte) in bytes
        .iter()
        .map(u8::to_ascii_lowercase)
        .enumerate()
        .filter(|(_, byte)| !byte.is_ascii_whitespace())
    {
        if window.len() == NAME.len() {
            window.pop_front();
        }
        window.push_back(byte);
        // A field within what was looked at already is not looked at twice.
        if at < matched || !window.iter().eq(NAME) {
            continue;
        }
        let field = &bytes[at..];
        let end =
            field.windows(2).position(|pair| pair[0] == b'\n' && !pair[1].is_ascii_whitespace());
        let field = &field[..end.unwrap_or(field.len())];
        matched = at + field.len();
        let text = String::from_utf8_lossy(field).to_ascii_lowercase();
        if ["rfc822", "global", "digest"].iter().any(|kind| text.contains(kind)) {
            return true;
        }
    }
    false
}
