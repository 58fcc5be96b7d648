//! `tidings backup` and `tidings restore`.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tidings_api::keys;
use tidings_node::backup::{self, BackupError, BackupSize};
use tidings_node::{Clock as _, SystemClock, pause_restored};
use tidings_store::Store;

use super::reach::{self, TargetArguments};
use super::{Status, Streams, private_file, report};
use crate::client::{CallFault, CallTarget, Purpose, Request};

/// Bytes that are read or written at once.
const CHUNK_BYTES: usize = 1 << 18;

/// Arguments of `backup`.
#[derive(clap::Args)]
pub(super) struct Backup {
    /// File to write; an existing one is replaced once the new one is complete
    #[arg(long = "to", value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reach: TargetArguments,
}

/// Arguments of `restore`.
#[derive(clap::Args)]
pub(super) struct Restore {
    /// Backup file
    #[arg(long = "from", value_name = "FILE")]
    file: PathBuf,
    /// Data directory to create; it must be empty or absent
    #[arg(long, value_name = "DIR", required_unless_present = "store")]
    data: Option<PathBuf>,
    /// Database to fill, in place of a data directory; it must have no store
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The reason why there is no backup.
enum Failed {
    Answer(CallFault),
    Copy(BackupError),
}

/// Runs `backup`.
pub(super) fn backup(arguments: &Backup, streams: &mut Streams<'_>) -> io::Result<Status> {
    let mut reach = match reach::find(&arguments.reach, Purpose::Look, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let copied = copy(&mut reach, &arguments.file);
    let closed = reach.close();
    let contents = match copied {
        Ok(contents) => contents,
        Err(Failed::Answer(fault)) => return Ok(reach::report_fault(&fault, streams)),
        Err(Failed::Copy(fault)) => {
            let message = format!("{}: {fault}; no backup was made", arguments.file.display());
            return Ok(report(streams, &message, Status::Failed));
        }
    };
    print_contents("Backed up", &contents, arguments.reach.json, streams)?;
    Ok(match closed {
        Ok(()) => Status::Done,
        Err(fault) => reach::report_fault(&fault, streams),
    })
}

/// Copies a backup into a file, and looks on the way whether it is whole. Nothing of that name is
/// touched before it is, and durable.
fn copy(reach: &mut CallTarget, file: &Path) -> Result<BackupSize, Failed> {
    let failed = |fault: io::Error| Failed::Copy(BackupError::Stream(fault));
    let new = PartialFile::make(file).map_err(failed)?;
    let request = Request::get("/v1/admin/backup".to_owned());
    let input = reach.stream(&request).map_err(Failed::Answer)?;
    let mut out = BufWriter::with_capacity(CHUNK_BYTES, &new.file);
    let contents = backup::check(TeeReader { input, out: &mut out }).map_err(Failed::Copy)?;
    out.flush().map_err(failed)?;
    drop(out);
    new.put_in_place(file).map_err(failed)?;
    Ok(contents)
}

/// A file that is not whole yet; it goes away unless it is put in place.
struct PartialFile {
    file: File,
    path: PathBuf,
}

impl PartialFile {
    fn make(of: &Path) -> io::Result<Self> {
        let mut path = of.as_os_str().to_owned();
        path.push(".partial");
        let path = PathBuf::from(path);
        let file = private_file(&path)?;
        Ok(Self { file, path })
    }

    fn put_in_place(self, of: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, of)?;
        let parent = of.parent().filter(|parent| !parent.as_os_str().is_empty());
        if cfg!(unix) {
            File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // After it was put in place nothing is there any more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads, and writes down what was read.
struct TeeReader<R, W> {
    input: R,
    out: W,
}

impl<R: Read, W: Write> Read for TeeReader<R, W> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(into)?;
        self.out.write_all(&into[..length])?;
        Ok(length)
    }
}

/// Runs `restore`.
pub(super) fn restore(arguments: &Restore, streams: &mut Streams<'_>) -> io::Result<Status> {
    let file = match File::open(&arguments.file) {
        Ok(file) => BufReader::with_capacity(CHUNK_BYTES, file),
        Err(fault) => {
            let message = format!("cannot open {}: {fault}", arguments.file.display());
            return Ok(report(streams, &message, Status::Wrong));
        }
    };
    let Some(place) = reach::store_place(arguments.data.clone(), arguments.store.clone()) else {
        // The parser of arguments requires one of both.
        return Ok(Status::Wrong);
    };
    let id = match keys::store_id() {
        Ok(id) => id,
        Err(fault) => return Ok(report(streams, &fault.to_string(), Status::Failed)),
    };
    let pause = |store: &dyn Store| Ok(pause_restored(store, SystemClock.now())?);
    match backup::restore(file, &place, id, pause) {
        Ok(contents) => {
            print_contents("Restored", &contents, arguments.json, streams)?;
            let place = match arguments.store {
                Some(_) => format!("--store {place}"),
                None => format!("--data {place}"),
            };
            writeln!(
                streams.err,
                "Every channel is paused, because the original may still send. To send from this copy, \
                 start `tidings serve {place}` and run `tidings resume channel --all {place}`"
            )?;
            Ok(Status::Done)
        }
        Err(BackupError::Store(fault)) => Ok(report(streams, &fault.to_string(), Status::Unusable)),
        Err(fault) => {
            let status = match fault {
                BackupError::Format(_) | BackupError::StoreFormat(_) => Status::Unusable,
                _ => Status::Failed,
            };
            let message = format!("{}: {fault}", arguments.file.display());
            Ok(report(streams, &message, status))
        }
    }
}

fn print_contents(
    done: &str,
    contents: &BackupSize,
    as_json: bool,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    if as_json {
        return writeln!(streams.out, "{}", serde_json::to_string(contents)?);
    }
    let BackupSize { days, rows } = contents;
    let plural = if *days == 1 { "" } else { "s" };
    writeln!(streams.out, "{done}: {rows} rows, {days} day{plural}")
}
