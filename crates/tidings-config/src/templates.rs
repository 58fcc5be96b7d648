//! The host's own templates: files in `templates/email`, beside the configuration.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tidings_core::Rules;
use tidings_mail::{DEFAULT_TEMPLATES, Design, DesignError, check_locale};

use super::fault::Fault;
use crate::wording::{did_you_mean, quoted};

/// The most bytes of a template.
const TEMPLATE_BYTES_MAX: u64 = 128 << 10;
/// The most templates.
const TEMPLATES_MAX: usize = 200;

/// The directory of the templates of mails that belong to a configuration.
#[must_use]
pub fn directory(config: &Path) -> PathBuf {
    let directory = config.parent().unwrap_or(Path::new(""));
    directory.join("templates").join("email")
}

/// Reads the templates beside a configuration into its rules, and tries them.
pub(super) fn read(config: &Path, rules: &mut Rules) -> Result<(), Vec<Fault>> {
    let directory = directory(config);
    let fault = |path: &Path, reason: &str, hint: &str| Fault {
        place: None,
        reason: format!("{}: {reason}", path.display()),
        hint: hint.to_owned(),
    };
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            let hint = "make it readable, or remove it";
            return Err(vec![fault(&directory, &error.to_string(), hint)]);
        }
    };
    let paths: std::io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths =
        paths.map_err(|error| vec![fault(&directory, &error.to_string(), "try again")])?;
    paths.sort_unstable();
    let mut faults = Vec::new();
    let mut templates = BTreeMap::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if name.starts_with('.') && !name.is_empty() {
            continue;
        }
        if let Err(hint) = check_name(name, rules) {
            faults.push(fault(&path, "is no template of this configuration", &hint));
            continue;
        }
        match load(&path) {
            Ok(source) if templates.len() < TEMPLATES_MAX => {
                templates.insert(format!("email/{name}"), source);
            }
            Ok(_) => {
                let reason = format!("there are more than {TEMPLATES_MAX} templates");
                faults.push(fault(&path, &reason, "remove some"));
                break;
            }
            Err(reason) => faults.push(fault(&path, &reason, "write a text in UTF-8")),
        }
    }
    rules.presentation.templates = templates;
    faults.extend(tried(rules, &directory));
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// The faults that show when the templates are read and samples are rendered.
fn tried(rules: &Rules, directory: &Path) -> Vec<Fault> {
    if rules.presentation.templates.is_empty() {
        return Vec::new();
    }
    let of = |fault: &DesignError| Fault {
        place: None,
        reason: format!("{}: {fault}", directory.display()),
        hint: fault.hint().to_owned(),
    };
    Design::faults(rules).iter().map(of).collect()
}

/// Checks the name of a file: `layout`, `item`, `card`, `_` and any name for what others include, or a type; then a
/// locale, or none; then `html` or `txt`.
fn check_name(name: &str, rules: &Rules) -> Result<(), String> {
    let types = || rules.types.keys().map(String::as_str);
    let stem = [".html", ".txt"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .ok_or("call it NAME.html or NAME.txt, or move it elsewhere")?;
    let is_default = |stem: &str| {
        let name = format!("email/{stem}.html");
        DEFAULT_TEMPLATES.iter().any(|(known, _)| *known == name)
    };
    let is_known = |stem: &str| {
        stem.starts_with('_') || is_default(stem) || types().any(|event_type| event_type == stem)
    };
    let without_locale = stem
        .rsplit_once('.')
        .filter(|(_, locale)| check_locale(locale).is_ok())
        .map(|(stem, _)| stem);
    if is_known(stem) || without_locale.is_some_and(is_known) {
        return Ok(());
    }
    let names = ["layout", "item", "card"].into_iter().chain(types());
    let near = did_you_mean(stem, names);
    Err(near.unwrap_or_else(|| {
        format!(
            "{} is not a type: call it `layout`, after a type, or begin its name with `_` if others include it",
            quoted(stem)
        )
    }))
}

fn load(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(TEMPLATE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > TEMPLATE_BYTES_MAX {
        return Err(format!("it is larger than {TEMPLATE_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
