//! Every case of `cases/`, tried on every subject: one test each.

use std::fmt::Write as _;
use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use tidings_sim::cases::script;
use tidings_sim::engine;
use tidings_sim::subject::{self, Make};

/// The subjects that must pass all cases.
const SUBJECTS: [(&str, Make); 6] = [
    ("model", subject::model),
    ("engine", engine::engine),
    ("engine_indexed_at_once", engine::indexed_at_once),
    ("engine_never_indexed", engine::never_indexed),
    ("engine_in_halves", engine::in_halves),
    ("engine_on_three_nodes", engine::on_three_nodes),
];

/// The cases that need one node: of several, each takes the first of its own up to a limit (decision 086).
const OF_ONE_NODE: [&str; 2] = ["tenants_limit", "tenants_limit_order"];

/// P12: very many events to one recipient, in one digest, in order.
fn very_many() -> String {
    let count = 100_000;
    let mut text = "digest daily day 09:00\ntype news email:digest,daily\n".to_owned();
    text.push_str("00:00 person ann\n");
    for number in 0..count {
        let second = number / 20;
        let at = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        let _ = writeln!(text, "{at} publish e{number} news o{} to=ann", number % 1000);
    }
    text.push_str("= 09:00 ann email digest:daily: ");
    for number in 0..count {
        let _ = write!(text, "e{number} ");
    }
    let _ = writeln!(text, "\nbooks messages=1 delivered={count} notifications={count}");
    text
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases = vec![("P12".to_owned(), very_many())];
    for file in std::fs::read_dir(&folder).expect("the cases lie beside the sources") {
        let path = file.expect("a readable folder").path();
        if path.extension().is_some_and(|extension| extension == "case") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            cases.push((name, std::fs::read_to_string(&path).expect("a readable case")));
        }
    }
    cases.sort();
    let mut trials = Vec::new();
    for (name, text) in cases {
        let is_asked =
            |of: &str| of != "engine_on_three_nodes" || !OF_ONE_NODE.contains(&name.as_str());
        for (subject, make) in SUBJECTS.into_iter().filter(|(subject, _)| is_asked(subject)) {
            let text = text.clone();
            trials.push(Trial::test(format!("{subject}::{name}"), move || {
                script::parse(&text).and_then(|case| case.run(make)).map_err(Failed::from)
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
