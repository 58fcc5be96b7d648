//! The page of a comparison: one file without a script and without a request to elsewhere, to be shown to those who decide.

mod band;
mod plot;

use std::fmt::Write as _;

use super::rows::{mean, rows, said};
use super::{Distribution, Figures, Story};
use crate::config::duration::rounded;
use crate::wording::escaped;

const STYLE: &str = include_str!("style.css");

/// The widths in which pictures of a day are drawn; the style sheet shows the one that fits.
const WIDTHS: [(&str, f64); 2] = [("wide", 1100.0), ("narrow", 340.0)];

/// The content of a page.
#[derive(Debug)]
pub struct Page<'p> {
    /// The source of the events.
    pub source: &'p str,
    /// The only channel that was counted; `None` = all but the inbox.
    pub channel: Option<&'p str>,
    /// The figures of each configuration.
    pub figures: &'p [Figures],
    /// One recipient's day.
    pub story: Option<&'p Story>,
}

/// A plot of a page.
struct Plot {
    title: &'static str,
    unit: &'static str,
    ranges: plot::Ranges,
    of: fn(&Figures) -> &Distribution,
}

impl Page<'_> {
    /// The page as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        let titles: Vec<&str> = self.figures.iter().map(|of| of.title.as_str()).collect();
        let heading = format!("{}?", either(&titles));
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<header>\n\
             <p class=\"kicker\">The same events under {1} configurations</p>\n<h1>{0}</h1>\n",
            escaped(&heading),
            in_words(self.figures.len()),
        );
        self.lead(&mut html);
        html.push_str("</header>\n");
        self.cards(&mut html);
        self.plots(&mut html, &titles);
        if let Some(story) = self.story {
            day(&mut html, story);
        }
        self.table(&mut html, &titles);
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }

    /// A sentence on each configuration: its changes against the first.
    fn lead(&self, html: &mut String) {
        let Some((first, others)) = self.figures.split_first() else {
            return;
        };
        for other in others {
            let _ = writeln!(html, "<p class=\"lead\">{}</p>", against(first, other));
        }
        let channel = match self.channel {
            Some(channel) => format!("Messages on the channel {}", escaped(channel)),
            None => "Messages on all channels but the inbox".to_owned(),
        };
        let _ = writeln!(
            html,
            "<p class=\"sub\">{channel}. Events from {}. A day of a recipient counts if something happened on it: an \
             event of theirs, or a message. There are {} of them, the same for each configuration.</p>",
            escaped(self.source),
            grouped(first.recipient_days),
        );
    }

    /// A card for each configuration.
    fn cards(&self, html: &mut String) {
        html.push_str("<section class=\"cards\" aria-label=\"In short\">\n");
        for (number, of) in self.figures.iter().enumerate() {
            let day = &of.messages_per_day;
            let _ = writeln!(
                html,
                "<article class=\"card k{number}\"><h2>{}</h2>\n<p class=\"big\">{}<span> messages a recipient and \
                 day</span></p>\n<dl><dt>Full day (p95)</dt><dd>{}</dd>\n<dt>Fullest day</dt><dd>{}</dd>\n<dt>Half told \
                 within</dt><dd>{}</dd>\n<dt>95 % told within</dt><dd>{}</dd>\n<dt>Items a message</dt><dd>{}</dd>\n\
                 <dt>Messages</dt><dd>{}</dd></dl></article>",
                escaped(&of.title),
                mean(day),
                said(day.percentile(95), |count| count.to_string()),
                said(day.max(), |count| count.to_string()),
                said(of.delay_ms.percentile(50), wait),
                said(of.delay_ms.percentile(95), wait),
                mean(&of.items_per_message),
                grouped(of.messages),
            );
        }
        html.push_str("</section>\n");
    }

    fn plots(&self, html: &mut String, titles: &[&str]) {
        html.push_str("<section class=\"plots\">\n");
        let plots = [
            Plot {
                title: "Messages a day",
                unit: "share of recipients’ days",
                ranges: plot::MESSAGES,
                of: |of| &of.messages_per_day,
            },
            Plot {
                title: "Delay",
                unit: "from event to message, up to; share of events told",
                ranges: plot::DELAYS,
                of: |of| &of.delay_ms,
            },
            Plot {
                title: "Items a message",
                unit: "share of messages",
                ranges: plot::ITEMS,
                of: |of| &of.items_per_message,
            },
        ];
        for Plot {
            title,
            unit,
            ranges,
            of,
        } in plots
        {
            let all: Vec<&Distribution> = self.figures.iter().map(of).collect();
            let svg = plot::svg(title, &ranges, &all, titles);
            let _ = writeln!(
                html,
                "<figure><figcaption><b>{title}</b> <span>{unit}</span></figcaption>{svg}</figure>"
            );
        }
        html.push_str("<p class=\"legend\">");
        for (number, title) in titles.iter().enumerate() {
            let _ = write!(
                html,
                "<span class=\"key k{number}\">{}</span>",
                escaped(title)
            );
        }
        html.push_str("</p>\n</section>\n");
    }

    fn table(&self, html: &mut String, titles: &[&str]) {
        html.push_str(
            "<section>\n<h2>All numbers</h2>\n<div class=\"scroll\"><table>\n<thead><tr><td></td>",
        );
        for title in titles {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(title));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in rows(self.figures) {
            let class = if row.title.starts_with(' ') {
                " class=\"under\""
            } else {
                ""
            };
            let _ = write!(
                html,
                "<tr{class}><th scope=\"row\">{}</th>",
                escaped(row.title.trim())
            );
            for cell in &row.cells {
                let _ = write!(html, "<td>{}</td>", escaped(cell));
            }
            html.push_str("</tr>\n");
        }
        html.push_str(
            "</tbody>\n</table></div>\n<p class=\"sub\">p50 and p95 are the least values that half, and 95 of 100, do not \
             exceed. Delay runs from the instant at which an event is delivered (its arrival, or later where it is \
             scheduled) to the message that tells it.</p>\n</section>\n",
        );
    }
}

/// A delay in words.
fn wait(ms: i64) -> String {
    match ms {
        0 => "at once".to_owned(),
        ms => rounded(ms),
    }
}

/// Titles as a question lists them.
fn either(titles: &[&str]) -> String {
    match titles.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => titles.concat(),
    }
}

/// The difference of a configuration to the first.
fn against(first: &Figures, other: &Figures) -> String {
    let change = match (first.messages, other.messages) {
        (a, b) if a == b => "as many messages as".to_owned(),
        (a, b) if a > b => format!("{} fewer messages than", percent(a - b, a)),
        (0, _) => "messages, unlike".to_owned(),
        (a, b) => format!("{} more messages than", percent(b - a, a)),
    };
    let delay = |of: &Figures| match of.delay_ms.percentile(50) {
        Some(0) | None => "at once".to_owned(),
        Some(ms) => format!("within {}", rounded(ms)),
    };
    let (one, another) = (delay(other), delay(first));
    let told = if one == another {
        format!("Half of the events are told {one} under both")
    } else {
        format!("Half of the events are told {one}, rather than {another}")
    };
    format!(
        "<b>{}</b> sends {change} <b>{}</b>. {told}.",
        escaped(&other.title),
        escaped(&first.title)
    )
}

fn percent(part: u64, of: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(of) / 2) / u128::from(of.max(1));
    match (tenths / 10, tenths % 10) {
        (whole, _) if whole >= 10 => format!("{} %", (tenths + 5) / 10),
        (whole, rest) => format!("{whole}.{rest} %"),
    }
}

/// The picture of one recipient's day.
fn day(html: &mut String, story: &Story) {
    let _ = writeln!(
        html,
        "<section>\n<h2>One recipient’s day</h2>\n<p class=\"sub\">What <b>{}</b> gets of {} on {}{}. A bar is an \
         event: it begins when the event comes, and ends at the message that tells it. A point is a message. \
         Neighbouring messages have different shades.</p>",
        escaped(story.recipient.as_str()),
        match (story.events, story.shown()) {
            (all, shown) if all > shown => format!("the first {shown} of {all} events"),
            (1, _) => "one event".to_owned(),
            (all, _) => format!("{all} events"),
        },
        story.day,
        story
            .events_from_to()
            .map_or_else(String::new, |(from, to)| format!(
                ", {} to {} UTC",
                band::clock(from),
                band::clock(to)
            )),
    );
    for (number, band) in story.bands.iter().enumerate() {
        let count = match band.told.len() {
            1 => "1 message".to_owned(),
            count => format!("{count} messages"),
        };
        let _ = write!(
            html,
            "<figure class=\"band\"><figcaption><span class=\"key k{number}\">{}</span> <span>{count}",
            escaped(&band.title)
        );
        if let Some((events, at)) = band::beyond(story, number) {
            let _ = write!(html, "; {events} of the events wait until {at}");
        }
        html.push_str("</span></figcaption>");
        for (class, width) in WIDTHS {
            if let Some(svg) = band::svg(story, number, width) {
                let _ = write!(html, "<div class=\"{class}\">{svg}</div>");
            }
        }
        html.push_str("</figure>\n");
    }
    html.push_str("</section>\n");
}

fn in_words(count: usize) -> &'static str {
    match count {
        2 => "two",
        3 => "three",
        _ => "four",
    }
}

/// A count with its thousands apart.
fn grouped(count: u64) -> String {
    tidings_mail::grouped(count, "\u{202f}")
}
