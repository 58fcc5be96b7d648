//! `tidings tune`: proposes the parameters of cool-downs for a goal.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use tidings_config::duration::{self, rounded};
use tidings_config::wording::quoted;
use tidings_core::Rules;
use tidings_core::model::sending_channels;
use tidings_trial::compare::rows::{mean, said};
use tidings_trial::compare::tune::{
    Cooldown, Goal, GoalAnswer, MissedBound, TunedTypes, choose, grid,
};
use tidings_trial::compare::{self, Channels, ConfigFigures, CountFilter, NamedRules, Population};

use super::compare::play_all;
use super::timeline::TimelineArguments;
use crate::cli::print::table::TextTable;
use crate::cli::simulate::read;
use crate::cli::{MakePlayer, Status, Streams, report};

/// Arguments of `tune`.
#[derive(clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Configuration
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    config: PathBuf,
    #[command(flatten)]
    timeline: TimelineArguments,
    #[command(flatten)]
    goal: GoalArguments,
    /// Tune only this type; several may be given [default: all with a cool-down]
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Tune and count only this channel [default: all but the inbox]
    #[arg(long, value_parser = sending_names())]
    channel: Option<String>,
    /// Values of `quiet` to try
    #[arg(long, value_name = "DURATION", value_delimiter = ',', value_parser = milliseconds, default_value = "2m,5m,15m,45m")]
    quiet: Vec<i64>,
    /// Values of `max_wait` to try
    #[arg(long, value_name = "DURATION", value_delimiter = ',', value_parser = milliseconds, default_value = "15m,1h,4h,12h")]
    max_wait: Vec<i64>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Bounds of a goal. Of the choices that keep them all, the one with the fewest messages is proposed; where only messages
/// are bounded, the one with the least delay.
#[derive(clap::Args)]
#[group(required = true, multiple = true)]
struct GoalArguments {
    /// Goal: so many messages a recipient and day on average
    #[arg(long, value_name = "MESSAGES")]
    mean_per_day: Option<f64>,
    /// Goal: at most so many messages on 95 of 100 days of recipients
    #[arg(long, value_name = "MESSAGES")]
    p95_per_day: Option<u32>,
    /// Goal: at most so many messages to anybody on any day
    #[arg(long, value_name = "MESSAGES")]
    max_per_day: Option<u32>,
    /// Goal: half of the events are told within this time
    #[arg(long, value_name = "DURATION", value_parser = milliseconds)]
    p50_delay: Option<i64>,
    /// Goal: 95 of 100 events are told within this time
    #[arg(long, value_name = "DURATION", value_parser = milliseconds)]
    p95_delay: Option<i64>,
}

fn milliseconds(text: &str) -> Result<i64, String> {
    duration::parse(text).map_err(|fault| format!("{fault}; {}", fault.hint()))
}

fn sending_names() -> Vec<&'static str> {
    sending_channels().map(|channel| channel.name).collect()
}

/// Runs the command.
pub(in crate::cli) fn run(
    arguments: &Arguments,
    make: MakePlayer<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let Some(rules) = read(&arguments.config, streams)? else {
        return Ok(Status::Wrong);
    };
    let choices = grid(&arguments.quiet, &arguments.max_wait);
    let configs = match configs(arguments, &rules, &choices) {
        Ok(configs) => configs,
        Err(reason) => return Ok(report(streams, &reason, Status::Wrong)),
    };
    let channels = Channels(arguments.channel.as_deref());
    let types = (!arguments.types.is_empty()).then_some(arguments.types.as_slice());
    let places = TunedTypes::of(&rules, types, channels);
    let wanted = CountFilter { channels, places: Some(&places), story: false };
    let mut population = Population::default();
    let runs = play_all(&configs, &arguments.timeline, wanted, make, &mut population, streams);
    let runs = match runs {
        Ok(runs) => runs,
        Err(status) => return Ok(status),
    };
    let figures = compare::figures(&runs, &population);
    let tuned = Tuned {
        goal: arguments.goal.goal(),
        choices: &choices,
        // The first is the configuration as it is.
        figures: &figures,
    };
    if arguments.json {
        tuned.write_json(streams.out)?;
    } else {
        tuned.write_table(streams.out)?;
    }
    Ok(Status::Done)
}

/// The configuration as it is, and with each choice.
fn configs(
    arguments: &Arguments,
    rules: &Rules,
    choices: &[Cooldown],
) -> Result<Vec<NamedRules>, String> {
    let Some(first) = choices.first() else {
        return Err("each --max-wait must be longer than some --quiet".to_owned());
    };
    let known = |name: &&String| !rules.types.contains_key(*name);
    if let Some(name) = arguments.types.iter().find(known) {
        let names = rules.types.keys().map(String::as_str);
        let fault = tidings_api::body::unknown("type", name, names);
        return Err(format!("{}\n  = help: {}", fault.reason, fault.hint));
    }
    let types = (!arguments.types.is_empty()).then_some(arguments.types.as_slice());
    let channels = Channels(arguments.channel.as_deref());
    let with = |choice: &Cooldown| {
        let mut rules = rules.clone();
        let places = choose(&mut rules, types, channels, *choice);
        (places, rules)
    };
    if with(first).0 == 0 {
        let whose = match arguments.types.as_slice() {
            [] => "no type".to_owned(),
            [name] => format!("the type {} does not", quoted(name)),
            _ => "none of these types".to_owned(),
        };
        let verb = if arguments.types.len() == 1 { "have" } else { "has" };
        return Err(format!(
            "{whose} {verb} a cool-down there\n  = help: `policy = \"cooldown\"` on a channel of a type is what can be tuned"
        ));
    }
    let path = arguments.config.display().to_string();
    let named = |title: String, rules: Rules| NamedRules { name: path.clone(), title, rules };
    let mut configs: Vec<NamedRules> =
        choices.iter().map(|choice| named(words(*choice), with(choice).1)).collect();
    configs.insert(0, named("as configured".to_owned(), rules.clone()));
    Ok(configs)
}

/// A choice as a configuration has it.
fn words(choice: Cooldown) -> String {
    format!(
        "quiet = \"{}\", max_wait = \"{}\"",
        duration::print(choice.quiet_ms),
        duration::print(choice.max_wait_ms)
    )
}

/// A bound that was not kept, with what it is.
fn missed_words(missed: MissedBound) -> String {
    match missed {
        MissedBound::Mean(mean) => format!("{mean:.2} messages a recipient and day"),
        MissedBound::PerDay(100, count) => format!("up to {count} messages a day"),
        MissedBound::PerDay(percent, count) => format!("{count} messages on {percent} of 100 days"),
        MissedBound::Delay(percent, ms) => {
            format!("{percent} of 100 events within {}", rounded(ms))
        }
    }
}

impl GoalArguments {
    fn goal(&self) -> Goal {
        Goal {
            mean_per_day: self.mean_per_day,
            p95_per_day: self.p95_per_day,
            max_per_day: self.max_per_day,
            p50_delay_ms: self.p50_delay,
            p95_delay_ms: self.p95_delay,
        }
    }
}

/// The outcome of a grid.
struct Tuned<'t> {
    goal: Goal,
    choices: &'t [Cooldown],
    /// The figures of the configuration as it is, and of each choice.
    figures: &'t [ConfigFigures],
}

/// A line of JSON: a choice, or the configuration as it is (without one).
#[derive(Serialize)]
struct ChoiceLine<'c> {
    quiet_ms: Option<i64>,
    max_wait_ms: Option<i64>,
    meets_goal: bool,
    #[serde(flatten)]
    figures: &'c ConfigFigures,
}

/// The last line of JSON.
#[derive(Serialize)]
struct ProposalLine {
    proposal: ProposedCooldown,
}

#[derive(Serialize)]
struct ProposedCooldown {
    quiet_ms: i64,
    max_wait_ms: i64,
    meets_goal: bool,
}

impl Tuned<'_> {
    /// The proposal: a choice, and whether it meets the goal.
    fn proposal(&self) -> Option<(Cooldown, bool)> {
        let tried = self.figures.get(1..).unwrap_or_default();
        match self.goal.answer(tried)? {
            GoalAnswer::Meets(number) => Some((*self.choices.get(number)?, true)),
            GoalAnswer::Nearest(number) => Some((*self.choices.get(number)?, false)),
        }
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let choices = [None].into_iter().chain(self.choices.iter().map(Some));
        for (choice, figures) in choices.zip(self.figures) {
            let line = ChoiceLine {
                quiet_ms: choice.map(|choice| choice.quiet_ms),
                max_wait_ms: choice.map(|choice| choice.max_wait_ms),
                meets_goal: self.goal.is_met(figures),
                figures,
            };
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
        if let Some((choice, meets_goal)) = self.proposal() {
            let proposal = ProposedCooldown {
                quiet_ms: choice.quiet_ms,
                max_wait_ms: choice.max_wait_ms,
                meets_goal,
            };
            serde_json::to_writer(&mut *out, &ProposalLine { proposal })?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = TextTable::new(&[
            "COOL-DOWN",
            "MESSAGES",
            "MEAN A DAY",
            "P95",
            "MAX",
            "DELAY P50",
            "P95",
            "GOAL",
        ]);
        for of in self.figures {
            let day = &of.messages_per_day;
            let count = |value: Option<i64>| said(value, |count| count.to_string());
            let goal = if self.goal.is_met(of) { "met" } else { "-" };
            table.row([
                of.title.clone(),
                of.messages.to_string(),
                mean(day),
                count(day.percentile(95)),
                count(day.max()),
                said(of.delay_ms.percentile(50), rounded),
                said(of.delay_ms.percentile(95), rounded),
                goal.to_owned(),
            ]);
        }
        table.write(out)?;
        if self.figures.iter().all(|of| of.messages == 0) {
            return writeln!(
                out,
                "\nNothing to tune: no message of what was played waited for a cool-down"
            );
        }
        match self.proposal() {
            Some((choice, true)) => writeln!(out, "\nProposal: {}", words(choice)),
            Some((choice, false)) => {
                let nearest = self.choices.iter().position(|other| *other == choice);
                let figures = nearest.and_then(|number| self.figures.get(number + 1));
                let missed = figures.map(|figures| self.goal.missed(figures)).unwrap_or_default();
                let missed: Vec<String> = missed.into_iter().map(missed_words).collect();
                let why = missed.join(", ");
                writeln!(out, "\nNo choice meets the goal. The nearest: {} ({why})", words(choice))
            }
            None => Ok(()),
        }
    }
}
