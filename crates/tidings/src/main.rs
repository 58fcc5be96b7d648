//! The `tidings` binary: passes the process's arguments and streams to the command line.

use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use tidings::cli::{self, Progress, Streams};

/// Events are allocated in one thread and freed in another, thousands at a time: with the allocator of the C library
/// that takes a quarter of publishing's processor time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Bytes gathered before they are written: a simulation prints millions of short lines.
const OUT_BYTES: usize = 1 << 16;

fn main() -> ExitCode {
    let stdout = std::io::stdout();
    let mut err = std::io::stderr();
    let progress = match (err.is_terminal(), stdout.is_terminal()) {
        (true, false) => Progress::Apart,
        (true, true) => Progress::Shared,
        (false, _) => Progress::Plain,
    };
    let mut out = BufWriter::with_capacity(OUT_BYTES, stdout.lock());
    let mut streams = Streams { out: &mut out, err: &mut err, progress };
    let status = cli::run(std::env::args_os(), &tidings_trial::player, &mut streams);
    match out.flush() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(1),
        _ => ExitCode::from(status.code()),
    }
}
