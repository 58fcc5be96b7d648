//! HTML and CSS that large mail clients do not show, so that who writes templates sees it before readers do.
//!
//! The features of clients are a table (`client_support.tsv`), made from the data of caniemail.com.

use std::collections::BTreeSet;

const TABLE: &str = include_str!("client_support.tsv");

/// A feature of a mail that some clients ignore, or show in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedFeature {
    /// A property, a part of a style sheet, `<element>` or an attribute.
    pub what: String,
    /// The clients that ignore it.
    pub by: Vec<&'static str>,
    /// The clients that show it in some places, or with some values.
    pub partly: Vec<&'static str>,
}

/// Lists what clients do not show of a mail's HTML, or in part, in the order of the table. Comments are left out, with what they
/// say to Outlook.
#[must_use]
pub fn not_shown(html: &str) -> Vec<UnsupportedFeature> {
    let source = HtmlNames::read(html);
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let clients: Vec<&str> = lines.next().unwrap_or_default().split('\t').skip(1).collect();
    let known = lines.filter_map(|line| {
        let (kind, rest) = line.split_once('\t')?;
        let (name, support) = rest.split_once('\t')?;
        let what = match kind {
            "property" if source.properties.contains(name) => name.to_owned(),
            "text" if source.style.contains(name) => name.to_owned(),
            "element" if source.elements.contains(name) => format!("<{name}>"),
            "attribute" if source.attributes.contains(name) => name.to_owned(),
            _ => return None,
        };
        let with = |wanted: char| {
            let clients = clients.iter().zip(support.chars());
            clients.filter(|(_, of)| *of == wanted).map(|(name, _)| *name).collect()
        };
        Some(UnsupportedFeature { what, by: with('n'), partly: with('a') })
    });
    known.collect()
}

/// The names in a mail's HTML, in small letters.
#[derive(Default)]
struct HtmlNames {
    elements: BTreeSet<String>,
    attributes: BTreeSet<String>,
    properties: BTreeSet<String>,
    /// All style sheets and `style` attributes, without white space.
    style: String,
}

impl HtmlNames {
    fn read(html: &str) -> Self {
        let mut source = Self::default();
        let mut rest = html;
        while let Some((_, tag)) = rest.split_once('<') {
            rest = match tag.strip_prefix("!--") {
                Some(comment) => comment.split_once("-->").map_or("", |(_, after)| after),
                None => source.tag(tag),
            };
        }
        source.properties = source
            .style
            .split(['{', '}', ';'])
            .filter_map(|declaration| declaration.split_once(':'))
            .map(|(name, _)| name.to_owned())
            .collect();
        source
    }

    /// Reads a tag from after its `<`, and a style sheet that it begins; returns what comes after.
    fn tag<'h>(&mut self, tag: &'h str) -> &'h str {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let (name, mut rest) = tag.split_at(tag.find(|c| !is_name(c)).unwrap_or(tag.len()));
        let name = name.to_ascii_lowercase();
        if name.is_empty() {
            return tag;
        }
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            let end = rest
                .find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/'))
                .unwrap_or(rest.len());
            let (attribute, after) = rest.split_at(end);
            let after = after.trim_start();
            if let Some(after) = after.strip_prefix('>') {
                self.attribute(attribute, "");
                rest = after;
                break;
            }
            let Some(value) = after.strip_prefix('=').map(str::trim_start) else {
                if after.is_empty() {
                    return after;
                }
                self.attribute(attribute, "");
                // A lone quote or another oddity is passed over.
                let step =
                    if end == 0 { after.chars().next().map_or(0, char::len_utf8) } else { 0 };
                rest = &after[step..];
                continue;
            };
            let (value, after) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((value, "")),
                _ => value.split_at(
                    value.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(value.len()),
                ),
            };
            self.attribute(attribute, value);
            rest = after;
        }
        if name == "style" {
            let (sheet, after) = rest.split_once("</").unwrap_or((rest, ""));
            self.style(sheet);
            rest = after;
        }
        self.elements.insert(name);
        rest
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        if name == "style" {
            self.style(value);
        }
        self.attributes.insert(name);
    }

    fn style(&mut self, text: &str) {
        let text = text.chars().filter(|c| !c.is_whitespace());
        self.style.extend(text.map(|c| c.to_ascii_lowercase()));
        self.style.push(';');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(html: &str) -> Vec<String> {
        let found = not_shown(html).into_iter().filter(|found| !found.by.is_empty());
        found.map(|found| found.what).collect()
    }

    #[test]
    fn what_clients_ignore_is_found_in_attributes_sheets_and_tags() {
        assert_eq!(
            names(
                "<p STYLE='Display: flex; color:red'>x<video src=a hidden>\
                 <style>@media (max-width:1px){a:hover{opacity:.5}}</style>"
            ),
            ["hidden", "<video>", "opacity", ":hover", "@media", "display:flex"]
        );
        let found = not_shown("<b style=display:flex>");
        let flex = found.iter().find(|found| found.what == "display:flex").unwrap();
        assert_eq!(flex.by, ["Outlook on Windows"]);
        let padding = &not_shown("<p style=padding:1px>")[0];
        assert_eq!(padding.partly, ["Outlook on Windows"]);
    }

    #[test]
    fn text_comments_and_what_all_show_are_not_told() {
        for html in [
            "<p style=\"color:#fff;padding:0\" title=\"opacity:1\">opacity:1; <b>display:flex</b></p>",
            "<!--[if mso]><p style=\"opacity:1\"><![endif]-->",
            "a < b > c",
        ] {
            assert_eq!(names(html), [""; 0], "{html}");
        }
    }

    #[test]
    fn what_is_no_html_is_read_to_its_end() {
        for html in [
            "<",
            "<a",
            "<a b",
            "<a b=",
            "<a b='",
            "<a '",
            "<a \"\"x>",
            "<style>a{",
            "<!--",
            "<a\u{e9}=\u{e9}>",
        ] {
            assert_eq!(names(html), [""; 0], "{html}");
        }
    }

    #[test]
    fn the_table_is_whole() {
        let clients = TABLE.lines().find(|line| line.starts_with("clients"));
        let clients = clients.unwrap().split('\t').count() - 1;
        let rows = TABLE.lines().filter(|line| !line.starts_with(['#', 'c']));
        for row in rows {
            let support = row.split('\t').nth(2).unwrap();
            assert_eq!(support.len(), clients, "{row}");
        }
    }
}
