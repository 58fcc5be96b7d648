//! The tokens of an expression, each with its place.

use super::fault::CelFault;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Int(i64),
    /// One more than the greatest integer, which only `-` may precede.
    IntBound,
    Uint(u64),
    Double(f64),
    Text(String),
    /// Punctuation and operators.
    Sign(&'static str),
    End,
}

/// A token with the byte at which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedToken {
    pub(super) offset: usize,
    pub(super) token: Token,
}

/// Signs, those of two characters before those that they begin with.
const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}",
];

/// Reads all tokens; the last one is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<PlacedToken>, CelFault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += skipped(&text[at..]);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            tokens.push(PlacedToken { offset: at, token: Token::End });
            return Ok(tokens);
        };
        let (token, len) = match first {
            '0'..='9' => number(rest, at)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest, at)?,
            '\'' | '"' => quoted(rest, at, false)?,
            'r' | 'R' if rest[1..].starts_with(['\'', '"']) => {
                let (token, len) = quoted(&rest[1..], at + 1, true)?;
                (token, len + 1)
            }
            'b' | 'B' if rest[1..].starts_with(['\'', '"']) => {
                return Err(CelFault::new(at, "bytes can't be written here", "write a text"));
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                (Token::Name(rest[..len].to_owned()), len)
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or_else(|| {
                    let what = format!("`{first}` has no meaning in an expression");
                    CelFault::new(at, what, "texts stand in quotes, and `==` compares")
                })?;
                (Token::Sign(sign), sign.len())
            }
        };
        tokens.push(PlacedToken { offset: at, token });
        at += len;
    }
}

/// The number of bytes of white space and comments.
fn skipped(text: &str) -> usize {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("//") {
        let line = comment.find('\n').unwrap_or(comment.len());
        rest = comment[line..].trim_start();
    }
    text.len() - rest.len()
}

fn number(text: &str, offset: usize) -> Result<(Token, usize), CelFault> {
    let fault =
        || CelFault::new(offset, "the number is too great, or is none", "64 bits are the bound");
    let suffix = |len: usize| text[len..].starts_with(['u', 'U']);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let count = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let value = u64::from_str_radix(&digits[..count], 16).map_err(|_| fault())?;
        let len = 2 + count;
        if suffix(len) {
            return Ok((Token::Uint(value), len + 1));
        }
        return Ok((Token::Int(i64::try_from(value).map_err(|_| fault())?), len));
    }
    let digits = |from: usize| {
        let rest = &text[from..];
        rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut len = digits(0);
    let mut is_double = false;
    if text[len..].starts_with('.') && digits(len + 1) > 0 {
        is_double = true;
        len += 1 + digits(len + 1);
    }
    if text[len..].starts_with(['e', 'E']) {
        let sign = usize::from(text[len + 1..].starts_with(['+', '-']));
        let exponent = digits(len + 1 + sign);
        if exponent > 0 {
            is_double = true;
            len += 1 + sign + exponent;
        }
    }
    let written = &text[..len];
    if is_double {
        let value: f64 = written.parse().map_err(|_| fault())?;
        return value.is_finite().then_some((Token::Double(value), len)).ok_or_else(fault);
    }
    let value: u64 = written.parse().map_err(|_| fault())?;
    if suffix(len) {
        return Ok((Token::Uint(value), len + 1));
    }
    match i64::try_from(value) {
        Ok(value) => Ok((Token::Int(value), len)),
        Err(_) if value == i64::MIN.unsigned_abs() => Ok((Token::IntBound, len)),
        Err(_) => Err(fault()),
    }
}

fn quoted(text: &str, offset: usize, is_raw: bool) -> Result<(Token, usize), CelFault> {
    let fences = ["'''", "\"\"\"", "'", "\""];
    let fence = fences.into_iter().find(|fence| text.starts_with(fence));
    let open =
        || CelFault::new(offset, "the text has no end", "close it with the quote it begins with");
    let fence = fence.ok_or_else(open)?;
    let mut taken = String::new();
    let mut len = fence.len();
    loop {
        let rest = &text[len..];
        if rest.starts_with(fence) {
            return Ok((Token::Text(taken), len + fence.len()));
        }
        match rest.chars().next() {
            None => return Err(open()),
            Some('\n' | '\r') if fence.len() == 1 => return Err(open()),
            Some('\\') if !is_raw => {
                let (c, escaped) = escape(&rest[1..]).ok_or_else(|| {
                    let help =
                        "known are \\n, \\t, \\\\, \\', \\\", \\u and four digits and the like";
                    CelFault::new(offset + len, "the escape is unknown", help)
                })?;
                taken.push(c);
                len += 1 + escaped;
            }
            Some(c) => {
                taken.push(c);
                len += c.len_utf8();
            }
        }
    }
}

/// The character after a backslash, and how many bytes name it.
fn escape(text: &str) -> Option<(char, usize)> {
    let coded = |digits: std::ops::Range<usize>, radix| {
        let code = text.get(digits.clone())?;
        let is_code = code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let code = u32::from_str_radix(code, radix).ok().filter(|_| is_code)?;
        Some((char::from_u32(code)?, digits.end))
    };
    let plain = |c| Some((c, 1));
    match text.chars().next()? {
        'n' => plain('\n'),
        't' => plain('\t'),
        'r' => plain('\r'),
        'a' => plain('\u{7}'),
        'b' => plain('\u{8}'),
        'f' => plain('\u{c}'),
        'v' => plain('\u{b}'),
        c @ ('\\' | '\'' | '"' | '`' | '?') => plain(c),
        'x' | 'X' => coded(1..3, 16),
        'u' => coded(1..5, 16),
        'U' => coded(1..9, 16),
        '0'..='3' => coded(0..3, 8),
        _ => None,
    }
}
