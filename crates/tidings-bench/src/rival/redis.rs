//! Redis: an event is a string, and its id goes into two lists for each recipient.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tidings_loopback::{Server, find, free_port};

use super::Rival;
use crate::BenchFault;
use crate::stopwatch::Stopwatch;
use crate::world;

/// The settings under which it is run.
pub(crate) const SETTINGS: &str = "redis: appendonly yes, appendfsync everysec (an answer does not mean \
     that it is on the disk: up to a second may be lost), no snapshots; one connection over loopback, \
     everything in one pipeline that was encoded before the time begins: SET of the event, two RPUSH a \
     recipient";

/// A server with one connection.
pub(crate) struct Redis {
    stream: TcpStream,
    // Dropped after the connection.
    _server: Server,
}

impl Redis {
    /// Starts it with its data below a directory.
    pub(crate) fn start(directory: &Path) -> Result<Self, BenchFault> {
        let fault = |why: String| Rival::Redis.fault(why);
        let io = |why: std::io::Error| Rival::Redis.fault(why);
        let directory = directory.join("redis");
        std::fs::create_dir(&directory).map_err(io)?;
        let port = free_port().map_err(io)?;
        let program = find("redis-server").ok_or_else(|| {
            let why = "`redis-server` is not installed; on Debian: apt-get install redis-server";
            Rival::Redis.fault(why)
        })?;
        let mut command = Command::new(program);
        command
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir"])
            .arg(&directory)
            .args(["--save", "", "--appendonly", "yes"])
            .args(["--appendfsync", "everysec", "--daemonize", "no"]);
        let log = directory.join("log");
        let mut server = Server::start(command, &log).map_err(io)?;
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok();
        let stream = server.until(&log, connect).map_err(fault)?;
        stream.set_nodelay(true).map_err(io)?;
        Ok(Self { stream, _server: server })
    }

    /// Keeps an event and puts it into the inbox and the mail lane of each recipient; how long that
    /// took until the last answer.
    pub(crate) fn fan_out(
        &mut self,
        event: u64,
        recipients: &[u32],
    ) -> Result<Duration, BenchFault> {
        let name = format!("event-{event:06}");
        let mut pipeline = Vec::with_capacity(recipients.len() * 150);
        let body = world::body(event, recipients.first().copied().unwrap_or_default());
        command(&mut pipeline, &["SET", &name, &body]);
        for recipient in recipients {
            let recipient = world::recipient(*recipient);
            for lane in ["inbox", "mail"] {
                command(&mut pipeline, &["RPUSH", &format!("{lane}:{recipient}"), &name]);
            }
        }
        let answers = 1 + 2 * recipients.len();
        self.pipeline(&pipeline, answers).map_err(|fault| Rival::Redis.fault(fault))
    }

    /// Counts the entries of all lists.
    pub(crate) fn held(&mut self) -> Result<u64, BenchFault> {
        let sum = "local n = 0 for _, key in ipairs(redis.call('KEYS', '*:*')) do n = n + \
                   redis.call('LLEN', key) end return n";
        let mut request = Vec::new();
        command(&mut request, &["EVAL", sum, "0"]);
        let mut answer = String::new();
        let read = self
            .stream
            .write_all(&request)
            .and_then(|()| BufReader::new(&self.stream).read_line(&mut answer));
        read.map_err(|fault| Rival::Redis.fault(fault))?;
        let count = answer.trim().strip_prefix(':').and_then(|count| count.parse().ok());
        count.ok_or_else(|| Rival::Redis.fault(format!("it does not count: {answer}")))
    }

    fn pipeline(&self, pipeline: &[u8], answers: usize) -> std::io::Result<Duration> {
        let watch = Stopwatch::start();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| (&self.stream).write_all(pipeline));
            let mut reader = BufReader::with_capacity(64 << 10, &self.stream);
            read_answers(&mut reader, answers)?;
            let took = watch.elapsed();
            match writing.join() {
                Ok(written) => written.map(|()| took),
                Err(_) => Err(std::io::Error::other("the writer failed")),
            }
        })
    }
}

/// Reads so many answers of one line each.
fn read_answers(reader: &mut impl std::io::BufRead, mut answers: usize) -> std::io::Result<()> {
    let mut begins = true;
    while answers > 0 {
        let read = reader.fill_buf()?;
        if read.is_empty() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let count = read.len();
        for (at, byte) in read.iter().enumerate() {
            if begins && *byte == b'-' {
                let said = String::from_utf8_lossy(&read[at..count.min(at + 200)]).into_owned();
                return Err(std::io::Error::other(format!("it refuses: {said}")));
            }
            begins = *byte == b'\n';
            answers = answers.saturating_sub(usize::from(begins));
        }
        reader.consume(count);
    }
    Ok(())
}

/// Encodes a command as the protocol has it.
fn command(out: &mut Vec<u8>, words: &[&str]) {
    // Writing into memory does not fail.
    let _ = write!(out, "*{}\r\n", words.len());
    for word in words {
        let _ = write!(out, "${}\r\n{word}\r\n", word.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_encoded_and_answers_counted() {
        let mut out = Vec::new();
        command(&mut out, &["RPUSH", "inbox:é", "e"]);
        assert_eq!(out, "*3\r\n$5\r\nRPUSH\r\n$8\r\ninbox:é\r\n$1\r\ne\r\n".as_bytes());
        assert!(read_answers(&mut &b"+OK\r\n:1\r\n"[..], 2).is_ok());
        assert!(read_answers(&mut &b"+OK\r\n"[..], 2).is_err());
        assert!(read_answers(&mut &b":1\r\n-ERR\r\n"[..], 2).is_err());
    }
}
