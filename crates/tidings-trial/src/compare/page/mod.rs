//! The page of a comparison: one file without a script and without a request to elsewhere, to be shown to those who decide.

mod band;
mod plot;

use minijinja::{Error, Value, context};
use tidings_api::html::{Template, fill};
use tidings_config::duration::rounded;

use super::rows::{mean, rows, said};
use super::{ConfigFigures, Distribution, Story};

const TEMPLATES: [Template; 2] =
    [("compare", include_str!("page.html")), ("plot", include_str!("plot.html"))];

const STYLE: &str = include_str!("style.css");

/// The widths in which pictures of a day are drawn; the style sheet shows the one that fits.
const WIDTHS: [(&str, f64); 2] = [("wide", 1100.0), ("narrow", 340.0)];

/// The content of a page.
#[derive(Debug)]
pub struct ComparisonPage<'p> {
    /// The source of the events.
    pub source: &'p str,
    /// The only channel that was counted; `None` = all but the inbox.
    pub channel: Option<&'p str>,
    /// The figures of each configuration.
    pub figures: &'p [ConfigFigures],
    /// One recipient's day.
    pub story: Option<&'p Story>,
}

impl ComparisonPage<'_> {
    /// The page as HTML.
    ///
    /// # Errors
    /// A template that can't be filled.
    pub fn html(&self) -> Result<String, Error> {
        let titles: Vec<&str> = self.figures.iter().map(|of| of.title.as_str()).collect();
        let (first, others) = match self.figures.split_first() {
            Some((first, others)) => (Some(first), others),
            None => (None, &[][..]),
        };
        let leads = others
            .iter()
            .zip(first.into_iter().cycle())
            .map(|(other, first)| against(first, other));
        let rows = rows(self.figures).into_iter().map(|row| {
            let under = row.title.starts_with(' ');
            context! { under, title => row.title.trim(), cells => row.cells }
        });
        let values = context! {
            style => Value::from_safe_string(STYLE.to_owned()),
            heading => format!("{}?", either(&titles)),
            in_words => in_words(self.figures.len()),
            leads => leads.collect::<Vec<_>>(),
            channel => self.channel,
            source => self.source,
            days => first.map(|first| grouped(first.recipient_days)),
            cards => self.figures.iter().map(card).collect::<Vec<_>>(),
            plots => self.plots(&titles),
            titles => titles.iter().copied().map(Value::from).collect::<Value>(),
            day => self.story.map(day),
            rows => rows.collect::<Vec<_>>(),
        };
        fill(&TEMPLATES, "compare", values)
    }

    fn plots(&self, titles: &[&str]) -> [Value; 3] {
        let all = |of: fn(&ConfigFigures) -> &Distribution| -> Vec<&Distribution> {
            self.figures.iter().map(of).collect()
        };
        [
            plot::plot(
                "Messages a day",
                "share of recipients’ days",
                &plot::MESSAGES,
                &all(|of| &of.messages_per_day),
                titles,
            ),
            plot::plot(
                "Delay",
                "from event to message, up to; share of events told",
                &plot::DELAYS,
                &all(|of| &of.delay_ms),
                titles,
            ),
            plot::plot(
                "Items a message",
                "share of messages",
                &plot::ITEMS,
                &all(|of| &of.items_per_message),
                titles,
            ),
        ]
    }
}

/// The card of a configuration.
fn card(of: &ConfigFigures) -> Value {
    let day = &of.messages_per_day;
    context! {
        title => of.title.as_str(),
        mean => mean(day),
        full => said(day.percentile(95), |count| count.to_string()),
        fullest => said(day.max(), |count| count.to_string()),
        half => said(of.delay_ms.percentile(50), wait),
        most => said(of.delay_ms.percentile(95), wait),
        items => mean(&of.items_per_message),
        messages => grouped(of.messages),
    }
}

/// A delay in words.
fn wait(ms: i64) -> String {
    match ms {
        0 => "at once".to_owned(),
        ms => rounded(ms),
    }
}

/// Titles as a question lists them, which begins with them.
fn either(titles: &[&str]) -> String {
    let listed = match titles.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => titles.concat(),
    };
    let mut rest = listed.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// The difference of a configuration to the first.
fn against(first: &ConfigFigures, other: &ConfigFigures) -> Value {
    let change = match (first.messages, other.messages) {
        (a, b) if a == b => "as many messages as".to_owned(),
        (a, b) if a > b => format!("{} fewer messages than", percent(a - b, a)),
        (0, _) => "messages, unlike".to_owned(),
        (a, b) => format!("{} more messages than", percent(b - a, a)),
    };
    let delay = |of: &ConfigFigures| match of.delay_ms.percentile(50) {
        Some(0) | None => "at once".to_owned(),
        Some(ms) => format!("within {}", rounded(ms)),
    };
    let (one, another) = (delay(other), delay(first));
    let delay_text = if one == another {
        format!("Half of the events are told {one} under both")
    } else {
        format!("Half of the events are told {one}, rather than {another}")
    };
    context! { title => other.title.as_str(), change, first => first.title.as_str(), delay => delay_text }
}

fn percent(part: u64, of: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(of) / 2) / u128::from(of.max(1));
    match (tenths / 10, tenths % 10) {
        (whole, _) if whole >= 10 => format!("{} %", (tenths + 5) / 10),
        (whole, rest) => format!("{whole}.{rest} %"),
    }
}

/// The picture of one recipient's day.
fn day(story: &Story) -> Value {
    let events = match (story.events, story.shown()) {
        (all, shown) if all > shown => format!("the first {shown} of {all} events"),
        (1, _) => "one event".to_owned(),
        (all, _) => format!("{all} events"),
    };
    let hours = story.events_from_to().map(|(from, to)| (band::clock(from), band::clock(to)));
    let bands = story.bands.iter().enumerate().map(|(number, of_run)| {
        let pictures = WIDTHS.into_iter().filter_map(|(class, width)| {
            let picture = band::picture(story, number, width)?;
            Some((class, picture))
        });
        let beyond = band::beyond(story, number);
        context! {
            title => of_run.title.as_str(),
            messages => match of_run.shown.len() {
                1 => "1 message".to_owned(),
                count => format!("{count} messages"),
            },
            beyond => beyond.map(|(events, at)| (events, at.to_string())),
            pictures => pictures.collect::<Vec<_>>(),
        }
    });
    context! {
        recipient => story.recipient.as_str(),
        events,
        date => story.day.to_string(),
        hours => hours.map(|(from, to)| format!(", {from} to {to} UTC")),
        bands => bands.collect::<Vec<_>>(),
    }
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

/// A length in a picture.
fn px(length: f64) -> String {
    format!("{length:.1}")
}
