//! Every case of `cases/`, tried on every subject: one test each.

use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use tidings_sim::cases::script;
use tidings_sim::engine;
use tidings_sim::subject::{self, Make};

/// Who must pass all cases.
const SUBJECTS: [(&str, Make); 4] = [
    ("model", subject::model),
    ("engine", engine::engine),
    ("engine_turned_at_once", engine::turned_at_once),
    ("engine_never_turned", engine::never_turned),
];

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut trials = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the cases lie beside the sources")
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "case")
        })
        .collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).expect("a readable case");
        for (subject, make) in SUBJECTS {
            let text = text.clone();
            trials.push(Trial::test(format!("{subject}::{name}"), move || {
                script::parse(&text)
                    .and_then(|case| case.run(make))
                    .map_err(Failed::from)
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
