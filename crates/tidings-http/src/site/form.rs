//! The forms that are sent to the pages: by their own buttons, and by mail programs (RFC 8058).

use axum::http::{HeaderMap, header};
use mail_parser::{MessageParser, MimeHeaders as _};
use serde_json::{Map, Value, json};

/// The field by which a mail program unsubscribes.
const ONE_CLICK: (&str, &str) = ("List-Unsubscribe", "One-Click");

/// A form that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A mail program unsubscribes.
    OneClick,
    /// Preferences as the API has them, as JSON: those of a button, or the times of a digest.
    Set(String),
    /// Nothing that we know.
    Nothing,
}

impl Form {
    /// Reads `application/x-www-form-urlencoded`, or `multipart/form-data`, which mail programs may send, too.
    pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Self {
        let kind = headers.get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let fields = match multipart_boundary(kind) {
            Some(boundary) => multipart(body, &boundary),
            None => form_urlencoded::parse(body.trim_ascii()).into_owned().collect(),
        };
        let mut times = Map::new();
        for (name, value) in fields {
            if (name.as_str(), value.as_str()) == ONE_CLICK {
                return Self::OneClick;
            }
            if name == "set" {
                return Self::Set(value);
            }
            if ["digest", "on", "at"].contains(&name.as_str()) {
                times.insert(name, Value::String(value));
            }
        }
        if times.is_empty() { Self::Nothing } else { Self::Set(json!([times]).to_string()) }
    }
}

/// The boundary of a multipart form.
fn multipart_boundary(kind: &str) -> Option<String> {
    let header = format!("Content-Type: {kind}\r\n\r\n");
    let head = MessageParser::default().parse_headers(header.as_bytes())?;
    let kind = head.content_type()?;
    let subtype = kind.subtype().unwrap_or_default();
    let is_form = format!("{}/{subtype}", kind.ctype()).eq_ignore_ascii_case("multipart/form-data");
    let boundary = kind.attribute("boundary").filter(|_| is_form)?;
    Some(boundary.to_owned())
}

/// The fields of a multipart body, without files' contents being of any interest. Only the headers of its parts are
/// parsed: parts in parts could nest without end.
fn multipart(body: &[u8], boundary: &str) -> Vec<(String, String)> {
    let body = format!("\r\n{}", String::from_utf8_lossy(body));
    let between = format!("\r\n--{boundary}");
    let field = |part: &str| {
        let (head, value) = part.strip_prefix("\r\n")?.split_once("\r\n\r\n")?;
        let head = format!("{head}\r\n\r\n");
        let head = MessageParser::default().parse_headers(head.as_bytes())?;
        let name = head.content_disposition()?.attribute("name")?;
        Some((name.to_owned(), value.to_owned()))
    };
    let parts = body.split(between.as_str()).skip(1);
    parts.filter_map(field).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn read(kind: &'static str, body: &str) -> Form {
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static(kind));
        Form::read(&HeaderMap::from_iter([kind]), body.as_bytes())
    }

    #[test]
    fn one_click_comes_in_either_form() {
        let urlencoded = "application/x-www-form-urlencoded";
        assert_eq!(read(urlencoded, "List-Unsubscribe=One-Click"), Form::OneClick);
        assert_eq!(read("", "List-Unsubscribe=One%2DClick\r\n"), Form::OneClick);
        let multipart = "--b1\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n\
                         One-Click\r\n--b1--\r\n";
        for kind in [
            "multipart/form-data; boundary=b1",
            "Multipart/Form-Data; charset=utf-8; boundary=\"b1\"",
        ] {
            assert_eq!(read(kind, multipart), Form::OneClick, "{kind}");
        }
    }

    #[test]
    fn everything_else_changes_nothing() {
        let urlencoded = "application/x-www-form-urlencoded";
        assert_eq!(
            read(urlencoded, "set=%5B%7B%22a%22%3A1%7D%5D+x"),
            Form::Set("[{\"a\":1}] x".to_owned())
        );
        assert_eq!(
            read(urlencoded, "digest=weekly&on=fri&at=17%3A15&x=y"),
            Form::Set(r#"[{"digest":"weekly","on":"fri","at":"17:15"}]"#.to_owned())
        );
        for (kind, body) in [
            (urlencoded, ""),
            (urlencoded, "List-Unsubscribe=Two"),
            (urlencoded, "&&=&%zz=%"),
            ("multipart/form-data; boundary=", "----\r\n\r\n"),
            ("multipart/form-data; boundary=b1", "List-Unsubscribe=One-Click"),
            ("multipart/form-data", "--b1"),
        ] {
            assert_eq!(read(kind, body), Form::Nothing, "{kind} {body}");
        }
    }
}
