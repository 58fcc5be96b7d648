//! `tidings simulate --compare`: the figures of several configurations side by side.

use std::io::{self, Write};
use std::path::PathBuf;

use indicatif::ProgressBar;
use tidings_config::wording::quoted;
use tidings_trial::compare::page::ComparisonPage;
use tidings_trial::compare::rows::{ComparisonRow, rows};
use tidings_trial::compare::{
    self, Channels, ConfigFigures, CountFilter, NamedRules, Played, Population, Story,
};

use super::timeline::TimelineArguments;
use crate::cli::print::table::TextTable;
use crate::cli::simulate::{SimulateArguments, read};
use crate::cli::{MakePlayer, Status, Streams, report};

/// Runs the command.
pub(in crate::cli) fn run(
    files: &[PathBuf],
    arguments: &SimulateArguments,
    make: MakePlayer<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let mut configs = Vec::new();
    for (file, title) in files.iter().zip(titles(files)) {
        match read(file, streams)? {
            Some(rules) => {
                configs.push(NamedRules { name: file.display().to_string(), title, rules });
            }
            None => return Ok(Status::Wrong),
        }
    }
    let mut population = Population::default();
    let wanted = CountFilter {
        channels: Channels(arguments.channel.as_deref()),
        places: None,
        story: arguments.html.is_some(),
    };
    let timeline = &arguments.timeline;
    let runs = match play_all(&configs, timeline, wanted, make, &mut population, streams) {
        Ok(runs) => runs,
        Err(status) => return Ok(status),
    };
    let figures = compare::figures(&runs, &population);
    if let Some(file) = &arguments.html {
        let story = Story::of(&runs, &population, arguments.recipient.as_ref());
        if let (None, Some(recipient)) = (&story, &arguments.recipient) {
            let id = quoted(recipient.as_str());
            let message = format!("{id} gets no message under any of these configurations");
            return Ok(report(streams, &message, Status::Failed));
        }
        let page = ComparisonPage {
            source: &arguments.timeline.source(),
            channel: arguments.channel.as_deref(),
            figures: &figures,
            story: story.as_ref(),
        };
        let html = page.html().map_err(io::Error::other);
        if let Err(error) = html.and_then(|html| std::fs::write(file, html)) {
            let message = format!("cannot write {}: {error}", file.display());
            return Ok(report(streams, &message, Status::Failed));
        }
    }
    if arguments.json {
        for of_one in &figures {
            serde_json::to_writer(&mut *streams.out, of_one)?;
            streams.out.write_all(b"\n")?;
        }
    } else {
        write_table(&figures, streams.out)?;
    }
    Ok(Status::Done)
}

/// Plays the timeline under each configuration; faults are reported.
pub(in crate::cli) fn play_all(
    configs: &[NamedRules],
    arguments: &TimelineArguments,
    wanted: CountFilter<'_>,
    make: MakePlayer<'_>,
    population: &mut Population,
    streams: &mut Streams<'_>,
) -> Result<Vec<Played>, Status> {
    let timeline = arguments.again(streams)?;
    let mut runs = Vec::new();
    for config in configs {
        let bar = ProgressBar::hidden();
        let run = arguments.run(&timeline, &config.rules, &bar, streams)?;
        let mut player = make(config.rules.clone())
            .map_err(|error| report(streams, &error.to_string(), Status::Failed))?;
        let played = compare::play(config, run, &mut *player, wanted, population);
        bar.finish_and_clear();
        let played = played.map_err(|halt| {
            let message = format!("under {}: {halt}", config.name);
            report(streams, &message, Status::Failed)
        })?;
        runs.push(played);
    }
    Ok(runs)
}

/// Writes a column for each configuration.
fn write_table(figures: &[ConfigFigures], out: &mut dyn Write) -> io::Result<()> {
    let titles = figures.iter().map(|of| of.title.as_str());
    let titles: Vec<&str> = [""].into_iter().chain(titles).collect();
    let mut table = TextTable::new(&titles);
    for ComparisonRow { title, cells } in rows(figures) {
        table.row([title].into_iter().chain(cells));
    }
    table.write(out)?;
    let days = figures.first().map_or(0, |of| of.recipient_days);
    writeln!(
        out,
        "\n{days} days of recipients: UTC days on which something happened to one of them"
    )
}

/// The name of the configuration that is in force, as every server has it.
const IN_FORCE: &str = "tidings";

/// The titles of configurations: the names of their files without the ending, or the paths where two have one name. The
/// one that is in force is called the current one.
fn titles(files: &[PathBuf]) -> Vec<String> {
    let name = |file: &PathBuf| file.file_stem().map(|name| name.display().to_string());
    let names: Vec<Option<String>> = files.iter().map(name).collect();
    let of = |(file, name): (&PathBuf, &Option<String>)| match name {
        Some(title) if names.iter().filter(|other| *other == name).count() == 1 => {
            if title == IN_FORCE { "current".to_owned() } else { title.clone() }
        }
        _ => file.display().to_string(),
    };
    files.iter().zip(&names).map(of).collect()
}
