//! `tidings bench`: benchmarks on this machine.

use std::io;
use std::sync::Arc;

pub(super) use tidings_bench::command::BenchArguments;
use tidings_bench::{BenchFault, Host, RULES};
use tidings_http::{Access, Service};

use super::{Status, Streams, report};

/// Runs the command.
pub(super) fn run(arguments: &BenchArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let host = Host {
        rules: tidings_config::parse(RULES, "rules")
            .expect("the compiled-in configuration has no fault"),
        router: &|node, rules, clock| {
            let settings = tidings_http::Settings::default();
            let service = Service::new(node, rules, Access::Open, clock, settings);
            tidings_http::router(Arc::new(service))
        },
    };
    let (status, fault) =
        match tidings_bench::command::run(arguments, host, streams.out, streams.err) {
            Ok(()) => return Ok(Status::Done),
            Err(BenchFault::Output(error)) => return Err(error),
            Err(fault @ BenchFault::Wrong(_)) => (Status::Wrong, fault),
            Err(fault) => (Status::Failed, fault),
        };
    Ok(report(streams, &fault.to_string(), status))
}
