//! Converts timelines of real life into files that `tidings simulate` plays.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tidings_sim::convert::{self, Timeline};
use tidings_sim::text;

const USAGE: &str = "convert-timelines crates|github OUT.ndjson OUT.toml\n\n\
    The real data is looked for in TIDINGS_SHARED, or in ../shared beside the repository.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, ndjson, toml] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let convert: fn(&Path) -> _ = match what.as_str() {
        "crates" => convert::crates,
        "github" => convert::github,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let Some(shared) = convert::shared() else {
        eprintln!("the real data is not there");
        return ExitCode::FAILURE;
    };
    let written = convert(&shared)
        .map_err(Box::<dyn Error>::from)
        .and_then(|timeline| write(&timeline, &PathBuf::from(ndjson), &PathBuf::from(toml)));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn write(timeline: &Timeline, ndjson: &Path, toml: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::write(toml, text::toml(&timeline.rules))?;
    let mut out = BufWriter::new(File::create(ndjson)?);
    for timed in &timeline.commands {
        if let Some(line) = text::line(timed) {
            writeln!(out, "{line}")?;
        }
    }
    out.flush()?;
    Ok(())
}
