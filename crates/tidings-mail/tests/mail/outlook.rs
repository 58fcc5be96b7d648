//! Golden mails as Outlook on Windows lays them out: with what comments say to it, and without what it ignores.

use std::path::Path;

/// Elements without an end.
const VOID: [&str; 4] = ["br", "img", "link", "meta"];
/// Properties by which browsers lay out, and Word does not.
const IGNORED: [&str; 9] = [
    "display:flex",
    "display:grid",
    "float",
    "position",
    "background-image",
    "gap",
    "inset",
    "left",
    "top",
];
/// The width of a mail.
const WIDTH_MAX: u32 = 560;

/// A tag of an element that is open.
#[derive(Clone)]
struct Tag<'h> {
    name: &'h str,
    attributes: &'h str,
    /// True if it stands in a comment that only Outlook reads.
    is_for_outlook: bool,
}

impl<'h> Tag<'h> {
    fn attribute(&self, name: &str) -> Option<&'h str> {
        let mut rest = self.attributes;
        while let Some((before, value)) = rest.split_once("=\"") {
            let (value, after) = value.split_once('"')?;
            if before.trim_start() == name {
                return Some(value);
            }
            rest = after;
        }
        None
    }

    fn style(&self, property: &str) -> Option<&'h str> {
        let mut all = self.attribute("style")?.split(';').filter_map(|one| one.split_once(':'));
        all.find(|(name, _)| *name == property).map(|(_, value)| value)
    }

    /// A length in pixels of its style.
    fn pixels(&self, property: &str) -> Option<&'h str> {
        self.style(property)?.strip_suffix("px")
    }
}

/// Everything that Outlook would show otherwise than browsers do.
fn faults(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Browsers see no comment; what is left must be whole, too.
    nested(&without_comments(html), &mut found, &mut |_, _| Vec::new());
    nested(html, &mut found, &mut |tag, open| faults_of(tag, open));
    let sheet = html.split("<!--[if mso]>").nth(1).unwrap_or_default();
    for (part, why) in [
        ("<o:PixelsPerInch>96<", "pictures grow with the screen's scale"),
        ("p,h1,h2,h3{mso-line-height-rule:exactly}", "lines stand apart as Word likes"),
        ("font-family:'Segoe UI'", "cells don't inherit the font"),
    ] {
        if !sheet.contains(part) {
            found.push(format!("{part} is missing: {why}"));
        }
    }
    found
}

fn without_comments(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

/// Walks through the tags, those in comments for Outlook too; each end must be that of the last tag that is open.
fn nested(
    html: &str,
    found: &mut Vec<String>,
    faults_of: &mut dyn FnMut(&Tag<'_>, &[Tag<'_>]) -> Vec<String>,
) {
    let mut open: Vec<Tag<'_>> = Vec::new();
    let mut is_for_outlook = false;
    let mut rest = html;
    while let Some((_, tag)) = rest.split_once('<') {
        if let Some(after) = tag.strip_prefix("!--[if mso]>") {
            if is_for_outlook {
                found.push("a comment for Outlook within another".to_owned());
            }
            (is_for_outlook, rest) = (true, after);
            continue;
        }
        if let Some(after) = tag.strip_prefix("![endif]-->") {
            if !is_for_outlook {
                found.push("the end of no comment for Outlook".to_owned());
            }
            (is_for_outlook, rest) = (false, after);
            continue;
        }
        let (inside, after) = tag.split_once('>').unwrap_or((tag, ""));
        rest = after;
        if inside.starts_with('!') {
            continue;
        }
        if let Some(name) = inside.strip_prefix('/') {
            match open.pop() {
                Some(last) if last.name == name => {}
                last => found
                    .push(format!("</{name}> ends {}", last.map_or("nothing", |last| last.name))),
            }
            continue;
        }
        let name = inside.split([' ', '\n']).next().unwrap_or_default();
        let attributes = inside[name.len()..].trim_end_matches('/');
        let tag = Tag { name, attributes, is_for_outlook };
        found.extend(faults_of(&tag, &open));
        if name == "style" {
            rest = rest.split_once("</style>").map_or("", |(_, after)| after);
        } else if !VOID.contains(&name) && !inside.ends_with('/') {
            open.push(tag);
        }
    }
    if is_for_outlook {
        found.push("a comment for Outlook has no end".to_owned());
    }
    if let Some(tag) = open.last() {
        found.push(format!("<{}> has no end", tag.name));
    }
}

fn faults_of(tag: &Tag<'_>, open: &[Tag<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    let mut fault = |what: &str| found.push(format!("<{}{}>: {what}", tag.name, tag.attributes));
    let style = tag.attribute("style").unwrap_or_default();
    let parent = open.last().map_or("", |parent| parent.name);
    let wanted = match tag.name {
        "tr" => Some("table"),
        "td" => Some("tr"),
        _ => None,
    };
    if wanted.is_some_and(|wanted| parent != wanted) {
        fault("outside of its table");
    }
    let has_padding =
        style.split(';').any(|one| one.starts_with("padding") && !one.ends_with(":0"));
    if has_padding && tag.name != "td" {
        fault("padding works on cells alone");
    }
    for ignored in IGNORED {
        let is_it = |one: &str| {
            one.split_once(':').is_some_and(|(name, _)| name == ignored) || one == ignored
        };
        if style.split(';').any(is_it) {
            fault(ignored);
        }
    }
    match tag.name {
        "table" => {
            for attribute in ["cellpadding", "cellspacing", "border"] {
                if tag.attribute(attribute) != Some("0") {
                    fault("Word has its own distances between cells");
                }
            }
        }
        "td" if tag.pixels("width").is_some_and(|width| tag.attribute("width") != Some(width)) => {
            fault("the width is that of an attribute");
        }
        "img" => faults_of_picture(tag, open, &mut fault),
        _ => {}
    }
    // What browsers bound by `max-width` has a cell or a table of that width around it.
    if let Some(width) = tag.pixels("max-width").filter(|_| tag.name != "img") {
        let bounds =
            |around: &&Tag<'_>| around.is_for_outlook && around.attribute("width").is_some();
        if open.iter().rfind(bounds).and_then(|around| around.attribute("width")) != Some(width) {
            fault("nothing bounds it");
        }
    }
    found
}

fn faults_of_picture(tag: &Tag<'_>, open: &[Tag<'_>], fault: &mut dyn FnMut(&str)) {
    let size = |name| tag.attribute(name).and_then(|size| size.parse::<u32>().ok());
    if size("height").is_none() {
        fault("the height is that of an attribute");
    }
    if size("width").is_some_and(|width| width > WIDTH_MAX) {
        fault("wider than the mail");
    }
    if size("width").is_none() && tag.style("width") != Some("auto") {
        fault("the width is that of an attribute");
    }
    if tag.pixels("max-width").is_some_and(|width| tag.attribute("width") != Some(width)) {
        fault("the width is that of an attribute");
    }
    let block = open.iter().rfind(|tag| ["p", "h1", "h2", "h3", "td"].contains(&tag.name));
    let is_cut = block.is_some_and(|block| {
        block.name != "td" && block.style("mso-line-height-rule") != Some("at-least")
    });
    if is_cut {
        fault("lines of an exact height cut it off");
    }
}

#[test]
fn golden_mails_have_what_outlook_needs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mail/golden");
    let mut mails = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".html") && !name.starts_with("site_") {
            let html = std::fs::read_to_string(&path).unwrap();
            assert_eq!(faults(&html), [""; 0], "{name}");
            mails += 1;
        }
    }
    assert!(mails > 40, "{mails}");
}

#[test]
fn whatever_outlook_would_show_otherwise_is_found() {
    const SHEET: &str = "<!--[if mso]><xml><o:PixelsPerInch>96</o:PixelsPerInch></xml><style>td{font-family:'Segoe UI'}p,h1,h2,h3{mso-line-height-rule:exactly}</style><![endif]-->";
    const TABLE: &str = "<table cellpadding=\"0\" cellspacing=\"0\" border=\"0\">";
    let cell = |inside: &str| format!("{SHEET}{TABLE}<tr><td>{inside}</td></tr></table>");
    assert_eq!(faults(&cell("<p>Fine</p>")), [""; 0]);
    for (html, part) in [
        (cell("<a style=\"padding:12px 24px\">Go</a>"), "padding works on cells"),
        (cell("<div style=\"max-width:290px\">x</div>"), "nothing bounds it"),
        (cell("<div style=\"display:flex\">x</div>"), "display:flex"),
        (cell("<p style=\"float:left\">x</p>"), "float"),
        (cell("<td>x</td>"), "outside of its table"),
        (cell("<!--[if mso]><table><![endif]-->"), "</td> ends table"),
        (cell("<!--[if mso]><p></p>"), "no end"),
        (cell("<p><b>x</p></b>"), "</p> ends b"),
        (
            cell("<table><tr><td style=\"width:72px\">x</td></tr></table>"),
            "distances between cells",
        ),
        (cell("<table><tr><td style=\"width:72px\">x</td></tr></table>"), "that of an attribute"),
        (cell("<img width=\"600\" height=\"9\">"), "wider than the mail"),
        (cell("<img width=\"60\">"), "the height is that"),
        (cell("<p><img width=\"60\" height=\"60\"></p>"), "cut it off"),
        ("<p>x</p>".to_owned(), "PixelsPerInch"),
        (SHEET.replace("p,h1", "td,h1"), "mso-line-height-rule"),
    ] {
        assert!(
            faults(&html).iter().any(|fault| fault.contains(part)),
            "{part}: {:?}",
            faults(&html)
        );
    }
}
