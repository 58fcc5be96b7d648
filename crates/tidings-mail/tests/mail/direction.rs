//! Names that run the other way than the sentence, as a browser lays them out: the order on the screen is compared.
//!
//! It takes Chromium. Without it the test says that it is skipped, but with `TIDINGS_REQUIRE_SERVERS` set it fails.

use std::process::{Command, Stdio};

use tidings_core::Rules;
use tidings_core::content::{Batch, Line};
use tidings_core::model::Pivot;
use tidings_core::rules::{Brand, Texts, Wording};
use tidings_mail::{ChoiceName, Choices, Design, PreferenceRow, content, short};

use crate::fixture::{batch, group, id, line, object, role, sender};

/// Writes each line of each frame in place of the page, its characters from left to right.
const SCRIPT: &str = r"
addEventListener('load', () => {
  const out = [];
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument;
    const lines = new Map();
    const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      for (let at = 0; at < node.length; at++) {
        const c = node.data[at];
        if (/[\s\u200e\u200f\u2066-\u2069]/.test(c)) continue;
        const range = page.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = range.getClientRects()[0];
        if (!box || !box.width) continue;
        const top = Math.round(box.top);
        if (!lines.has(top)) lines.set(top, []);
        lines.get(top).push([box.left, c]);
      }
    }
    for (const line of lines.values()) {
      out.push(line.sort((a, b) => a[0] - b[0]).map(([, c]) => c).join(''));
    }
    out.push('=#=');
  }
  document.body.textContent = 'FRAMES\n' + out.join('\n');
});
";

/// The lines of each page as the browser shows them, without spaces; `None` where there is no browser.
fn laid_out(pages: &[String]) -> Option<Vec<String>> {
    let dir = std::env::temp_dir().join(format!("tidings-direction-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let frame = |page: &String| {
        // Long headlines would break into lines.
        let page = page.replace("font-size:26px", "font-size:16px");
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        format!("<iframe width=1400 height=2000 srcdoc=\"{page}\"></iframe>")
    };
    let frames: String = pages.iter().map(frame).collect();
    let file = dir.join("frames.html");
    let html = format!("<!DOCTYPE html><meta charset=utf-8><script>{SCRIPT}</script>{frames}");
    std::fs::write(&file, html).unwrap();
    let ran = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-background-networking", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .stderr(Stdio::null())
        .output();
    std::fs::remove_dir_all(&dir).unwrap();
    let Ok(output) = ran else {
        let is_required = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
        assert!(!is_required, "there is no chromium");
        println!("skipped: it takes chromium");
        return None;
    };
    let dom = String::from_utf8(output.stdout).unwrap();
    let (_, frames) = dom.split_once("FRAMES\n").expect(&dom);
    let mut frames: Vec<String> = frames.split("=#=").map(str::to_owned).collect();
    frames.truncate(pages.len());
    assert_eq!(frames.len(), pages.len(), "{dom}");
    Some(frames)
}

/// A stretch of a line.
#[derive(Clone, Copy)]
enum Run {
    ToRight(&'static str),
    ToLeft(&'static str),
}
use Run::{ToLeft, ToRight};

/// A line from left to right, of runs in the order in which they are read.
fn seen(is_right_to_left: bool, runs: &[Run]) -> String {
    let shown = |run: &Run| match run {
        ToRight(text) => (*text).to_owned(),
        ToLeft(text) => text.chars().rev().collect(),
    };
    let mut shown: Vec<String> = runs.iter().map(shown).collect();
    if is_right_to_left {
        shown.reverse();
    }
    shown.concat().replace(' ', "")
}

fn design() -> Design {
    let texts = |english: &str, hebrew: &str| {
        let texts = [("", english), ("he", hebrew)];
        Texts(texts.map(|(tag, text)| (tag.to_owned(), text.to_owned())).into())
    };
    let mut rules = Rules::default();
    rules.presentation.brand = Brand { name: Some("Art (2)!".to_owned()), ..Brand::default() };
    let comment = Wording {
        sentence: texts("{actor} commented on {object}", "{actor} הגיב על {object}!"),
        ..Wording::default()
    };
    // One text serves all languages.
    let sale = Wording {
        sentence: Texts([(String::new(), "{actor} sold {object} (today)!".to_owned())].into()),
        ..Wording::default()
    };
    let types = &mut rules.presentation.types;
    types.extend([("comment".to_owned(), comment), ("sale".to_owned(), sale)]);
    Design::new(sender(), &rules).unwrap()
}

fn comment(actors: &[&str], title: &str) -> Line {
    let actors = actors.iter().enumerate();
    Line {
        types: vec![id("comment")],
        actors: actors.map(|(n, name)| role(&format!("a{n}"), name)).collect(),
        ..line(object("o", title), &["everyone"])
    }
}

fn message(locale: &str, lines: Vec<Line>) -> Batch {
    let mut group = group(Pivot::Object, None, lines);
    group.event_type = group.lines[0].types[0].clone();
    let mut batch = batch(vec![group]);
    batch.locale = locale.to_owned();
    batch
}

/// The pages of a message: its HTML, whole and as clients show it that drop `<bdi>`; and all that is plain text, in the
/// direction of its language and, as other mail programs do, in that of its letters.
fn pages(message: &Batch) -> Vec<String> {
    let design = design();
    let (subject, bodies) = content(message, &design).unwrap();
    let short = short(message, &design).unwrap();
    let plain = [subject, bodies.text, short.title, short.text].join("\n");
    let direction = if message.locale == "he" { "rtl" } else { "ltr" };
    let pre = |style: &str| format!("<pre dir={direction} style=\"{style}\">{plain}</pre>");
    let dropped = bodies.html.replace("<bdi>", "").replace("</bdi>", "");
    vec![bodies.html, dropped, pre(""), pre("unicode-bidi:plaintext")]
}

/// Messages with a line that each of their pages has.
fn messages() -> Vec<(Batch, String)> {
    let notes = "Notes (3) on C++";
    let english = |actors: &[&str], title: &str, runs: &[Run]| {
        let message = message("en", vec![comment(actors, title)]);
        (message, seen(false, runs))
    };
    let hebrew = |actors: &[&str], title: &str, runs: &[Run]| {
        let message = message("he", vec![comment(actors, title)]);
        (message, seen(true, runs))
    };
    let sale = |title: &str, runs: &[Run]| {
        let sale = Line { types: vec![id("sale")], ..comment(&["Ann"], title) };
        (message("he", vec![sale]), seen(false, runs))
    };
    let rows = |locale: &str, actor: &str| {
        let lines = ["x", "y"].map(|name| Line {
            actors: vec![role("a", actor)],
            ..line(object(name, name), &["everyone"])
        });
        // Of one day the mail says it once.
        let other = Line { t: crate::fixture::instant("2024-03-02T10:00:00Z"), ..lines[1].clone() };
        let lines = [lines[0].clone(), other];
        message(locale, lines.to_vec())
    };
    let number = |number: &'static str| {
        let runs = [ToLeft("דב הגיב על "), ToRight(number), ToLeft("!")];
        hebrew(&["דב"], number, &runs)
    };
    vec![
        number("+972 50 123 4567"),
        number("12–14 (3)"),
        number("004 512"),
        english(
            &["סארה לוי"],
            notes,
            &[ToLeft("סארה לוי"), ToRight(" commented on Notes (3) on C++")],
        ),
        english(&["سارة"], notes, &[ToLeft("سارة"), ToRight(" commented on Notes (3) on C++")]),
        english(
            &["אברהם"],
            "תוכנית א (2)",
            &[ToLeft("אברהם"), ToRight(" commented on "), ToLeft("תוכנית א (2)")],
        ),
        english(
            &["רבקה", "שרה", "Ann", "Ben"],
            notes,
            &[
                ToLeft("רבקה"),
                ToRight(", "),
                ToLeft("שרה"),
                ToRight(" and 2 others commented on Notes (3) on C++"),
            ],
        ),
        // An override in a name ends with it.
        english(&["\u{202e}דב\u{2067}"], "Rain", &[ToLeft("דב"), ToRight(" commented on Rain")]),
        hebrew(
            &["Ana Ruiz"],
            notes,
            &[ToRight("Ana Ruiz"), ToLeft(" הגיב על "), ToRight("Notes (3) on C++"), ToLeft("!")],
        ),
        hebrew(&["Ben", "דב אדלר"], "שירים", &[ToRight("Ben"), ToLeft(" ודב אדלר הגיב על שירים!")]),
        sale("Rain", &[ToRight("Ann sold Rain (today)!")]),
        sale("שירים", &[ToRight("Ann sold "), ToLeft("שירים"), ToRight(" (today)!")]),
        (rows("en", "דב אדלר"), seen(false, &[ToLeft("דב אדלר"), ToRight(" · March 1")])),
        (
            rows("he", "Ana Ruiz (1)"),
            seen(true, &[ToRight("Ana Ruiz (1)"), ToLeft(" · "), ToRight("1"), ToLeft(" במרץ")]),
        ),
    ]
}

/// The page on which one chooses, with the name of a thing.
fn choices(locale: &str, title: &str) -> String {
    let row =
        PreferenceRow { name: ChoiceName::Title(title.into()), pace: None, offers: Vec::new() };
    let choices = Choices { subjects: vec![row], ..Choices::default() };
    design().choices(&[locale], &choices).unwrap()
}

#[test]
fn field_1_f4_names_leave_the_sentence_in_its_order() {
    let mut wanted = Vec::new();
    let mut shown = Vec::new();
    for (message, line) in messages() {
        for page in pages(&message) {
            wanted.push(line.clone());
            shown.push(page);
        }
    }
    for (locale, title, lines) in [
        (
            "en",
            "סארה (3)",
            [
                seen(false, &[ToRight("What Art (2)! sends you")]),
                seen(false, &[ToLeft("סארה (3)")]),
            ],
        ),
        (
            "he",
            "Notes on C++",
            [
                seen(true, &[ToLeft("ההודעות מאת "), ToRight("Art (2)!")]),
                seen(true, &[ToRight("Notes on C++")]),
            ],
        ),
    ] {
        for line in lines {
            wanted.push(line);
            shown.push(choices(locale, title));
        }
    }
    // The test sees what is wrong.
    let wrong = "<p dir=auto>סארה לוי commented on Notes (3) on C++</p>";
    shown.push(wrong.to_owned());
    let Some(laid_out) = laid_out(&shown) else {
        return;
    };
    for ((frame, line), page) in laid_out.iter().zip(&wanted).zip(&shown) {
        assert!(frame.contains(line), "{line} is not in:\n{frame}\nof\n{page}");
    }
    let wrong = laid_out.last().unwrap();
    assert!(!wrong.contains(&wanted[0]), "{wrong}");
}

#[test]
fn field_1_isolates_are_elements_in_html_and_characters_elsewhere() {
    let message = message("en", vec![comment(&["סארה"], "Rain \u{2067}<3")]);
    let (subject, bodies) = content(&message, &design()).unwrap();
    assert_eq!(subject, "\u{2068}סארה\u{2069} commented on Rain <3");
    let sentence = "\n\u{2068}<bdi>סארה</bdi>\u{2069} commented on Rain &lt;3\n";
    assert!(bodies.html.contains(sentence), "{}", bodies.html);
    assert!(bodies.text.contains(&subject), "{}", bodies.text);
    let short = short(&message, &design()).unwrap();
    assert_eq!((short.title, short.text.as_str()), (subject, ""));
}
