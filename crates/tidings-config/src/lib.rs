//! Reading of `tidings.toml` into [`Rules`]: the only way into the program for a configuration.
//!
//! A configuration is taken whole or not at all. Every fault is found in one run, so that a file is fixed once; unknown
//! keys are refused, because an ignored misspelt key leads to wrong decisions silently.

mod access;
mod brand;
mod caps;
mod channels;
pub mod duration;
pub mod edit;
pub mod fault;
mod feedback;
mod lanes;
mod limits;
mod presentation;
mod secret;
mod sections;
pub mod services;
mod staging;
pub mod templates;
#[cfg(test)]
mod tests;
mod texts;
mod types;
mod walk;
pub mod wording;
pub mod zone;

use std::fmt;
use std::path::{Path, PathBuf};

use access::console::ConsoleSection;
use tidings_core::Rules;
use tidings_core::model::{ChannelKind, sending_channels};
use tidings_core::rules::{FiguresRules, LogRules};
use toml::de::DeTable;

pub use channels::mailbox::mailbox_fault;
pub use fault::{Fault, Faults, SourceSpan};
pub use presentation::brand_check;
pub use secret::secret_here;
pub use sections::clock_minute;
use services::{compat, feeds, hooks, resolver, telemetry};
pub use texts::{Languages, MissingTexts};
pub use types::data_schema;
use walk::{ConfigReader, Section};

/// The commented default configuration, as `tidings config` prints it.
pub const DEFAULT: &str = include_str!("default.toml");

/// The largest configuration that is read, in bytes (4 MiB): far above what people write, and a
/// bound on what a wrong path can cost.
pub const CONFIG_BYTES_MAX: u64 = 4 << 20;

/// The text of a configuration, and its file.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConfigSource {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
}

/// A configuration without faults.
#[derive(Clone, Debug)]
pub struct CheckedConfig {
    /// The rules.
    pub rules: Rules,
    /// The text that they were read from.
    pub source: ConfigSource,
    /// Warnings about settings that are probably not intended, one sentence each.
    pub warnings: Vec<String>,
    /// The languages of its texts.
    pub languages: Languages,
}

/// Reads a configuration from a file, and the templates of mails and the books of words beside it.
///
/// # Errors
/// Every [`Fault`] of the file; a single one without a place where it cannot be read.
pub fn read(path: impl AsRef<Path>) -> Result<Rules, Faults> {
    check(path).map(|checked| checked.rules)
}

/// Reads a configuration as [`read`] does, and returns warnings about probable mistakes.
///
/// # Errors
/// Those of [`read`].
pub fn check(path: impl AsRef<Path>) -> Result<CheckedConfig, Faults> {
    ConfigSource::read(path)?.check()
}

impl ConfigSource {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// A single [`Fault`]: it can't be read, is too large, or is not UTF-8.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Faults> {
        let path = path.as_ref();
        let fault = |place, reason: String, hint: &str| Faults {
            file: path.display().to_string(),
            list: vec![Fault { place, reason, hint: hint.to_owned() }],
        };
        let bytes = load(path).map_err(|error| {
            let hint = "name the file, or write a first one with `tidings config > tidings.toml`";
            fault(None, format!("cannot read the configuration: {error}"), hint)
        })?;
        if bytes.len() as u64 > CONFIG_BYTES_MAX {
            let hint = "name the configuration, not a file of data";
            let reason = format!("the file is larger than {CONFIG_BYTES_MAX} bytes");
            return Err(fault(None, reason, hint));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
            let place = SourceSpan::of(&text, &(text.len()..text.len()));
            let reason = "the file is not UTF-8 from here on".to_owned();
            fault(Some(place), reason, "save it as UTF-8")
        })?;
        Ok(Self { file: path.to_owned(), text })
    }

    /// Reads the configuration, and the templates of mails and the books of words beside its file.
    ///
    /// # Errors
    /// Every [`Fault`] of the text and of these files.
    pub fn check(self) -> Result<CheckedConfig, Faults> {
        let file_name = self.file.display().to_string();
        let directory = self.file.parent().unwrap_or(Path::new(""));
        let (mut rules, texts) = parse_within(&self.text, &file_name, Some(directory))?;
        let mut list = texts::words::read(&self.file, &mut rules);
        list.extend(templates::read(&self.file, &mut rules).err().unwrap_or_default());
        if !list.is_empty() {
            return Err(Faults { file: file_name, list });
        }
        let languages = Languages::of(&texts, &rules, &self.text);
        let mut warnings = warnings(&rules);
        warnings.extend(languages.warnings(&file_name));
        Ok(CheckedConfig { rules, source: self, warnings, languages })
    }
}

// Its text may have secrets.
impl fmt::Debug for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigSource({})", self.file.display())
    }
}

fn load(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a configuration from text; `file_name` is what faults call it.
///
/// ```
/// let rules = tidings_config::parse("[store]\nkeep = \"10d\"", "tidings.toml")?;
/// assert_eq!(rules.store.keep_ms, 10 * tidings_core::model::DAY_MS);
/// # Ok::<(), tidings_config::Faults>(())
/// ```
///
/// # Errors
/// Every [`Fault`] of the text, in its order.
pub fn parse(text: &str, file_name: &str) -> Result<Rules, Faults> {
    parse_within(text, file_name, None).map(|(rules, _)| rules)
}

/// [`parse`], with the files that the configuration names, as seen from a directory, and the places of texts.
fn parse_within(
    text: &str,
    file_name: &str,
    directory: Option<&Path>,
) -> Result<(Rules, Vec<texts::ConfigText>), Faults> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut walk = ConfigReader::default();
    walk.directory = directory.map(Path::to_owned);
    for error in &errors {
        walk.syntax(error, text);
    }
    let root = Section::root(document.get_ref());
    walk.only(
        &root,
        &[
            "defaults",
            "categories",
            "digests",
            "types",
            "store",
            "channels",
            "limits",
            "brand",
            "caps",
            "resolver",
            "feedback",
            "users",
            "console",
            "telemetry",
            "feeds",
            "compat",
            "hooks",
            "tenants",
            "figures",
            "log",
        ],
    );
    let store = sections::store(&mut walk, &root);
    let defaults = sections::defaults(&mut walk, &root);
    let (figures, log) = (FiguresRules::default(), LogRules::default());
    let keys = [("keep", figures.keep_ms), ("tenants", figures.tenants_ms)];
    let [keep_ms, tenants_ms] = sections::kept(&mut walk, &root, "figures", keys);
    let [log_ms] = sections::kept(&mut walk, &root, "log", [("keep", log.keep_ms)]);
    let rules = Rules {
        tenants: sections::tenants(&mut walk, &root),
        categories: sections::categories(&mut walk, &root, &defaults.locale),
        digests: sections::digests(&mut walk, &root, store.as_ref()),
        types: types::types(&mut walk, &root, store.as_ref()),
        store: store.unwrap_or_default(),
        channels: channels::channels(&mut walk, &root),
        limits: limits::limits(&mut walk, &root),
        presentation: presentation::presentation(&mut walk, &root, &defaults.locale),
        caps: caps::caps(&mut walk, &root),
        resolver: resolver::resolver(&mut walk, &root),
        feedback: feedback::feedback(&mut walk, &root),
        users: access::users::users(&mut walk, &root),
        console: ConsoleSection::read(&mut walk, &root),
        telemetry: telemetry::telemetry(&mut walk, &root),
        feeds: feeds::feeds(&mut walk, &root),
        compat: compat::compat(&mut walk, &root),
        hooks: hooks::hooks(&mut walk, &root),
        figures: FiguresRules { keep_ms, tenants_ms },
        log: LogRules { keep_ms: log_ms },
        required_shares_lanes: false,
        defaults,
    };
    limits::fits_a_row(&mut walk, &rules);
    let texts = std::mem::take(&mut walk.texts);
    walk.finish(text, file_name)?;
    Ok((rules, texts))
}

/// Notes on valid settings that are often intended and should be checked, one sentence each.
#[must_use]
pub fn notes(rules: &Rules) -> Vec<String> {
    let urgent = rules.types.iter().filter(|(_, kind)| kind.urgent && !kind.include_actor);
    let note = |name: &String| {
        format!(
            "the urgent type `{name}` leaves the actor out; set `include_actor = true` if recipients are \
             notified of what they did themselves (a changed password)"
        )
    };
    urgent.map(|(name, _)| note(name)).collect()
}

/// Warnings about valid settings that are probably not intended, one sentence each. [`check`] adds those that need the
/// text of the file.
#[must_use]
pub fn warnings(rules: &Rules) -> Vec<String> {
    let mut warnings = Vec::new();
    if rules.types.is_empty() {
        warnings.push("there are no types: nothing can be published".to_owned());
    }
    for name in rules.categories.keys() {
        if !rules.types.values().any(|kind| kind.category == *name) {
            warnings.push(format!("no type is in the category `{name}`"));
        }
    }
    for (name, digest) in &rules.digests {
        let waits_ms = 2 * sections::period_ms(digest.every);
        if digest.min_items > 1 && waits_ms > rules.store.keep_ms {
            warnings.push(format!(
                "the digest `{name}` may pass over a slot (`min_items`), and days are kept for less than two of \
                 its slots: what waits for the second may be forgotten before"
            ));
        }
    }
    warnings.extend(brand::warnings(rules));
    warnings.extend(access::console::warnings(rules));
    for rules in rules.channels.values() {
        warnings.extend(channels::dkim::warning(rules));
    }
    for kind in sending_channels() {
        let rules = rules.channels.get(kind.name);
        let slips = rules.into_iter().flat_map(|rules| &rules.providers).filter_map(|provider| {
            let slip = tidings_node::channel::slip(kind, provider)?;
            Some(format!("channels.{}.provider: {slip}", kind.name))
        });
        warnings.extend(slips);
    }
    for ChannelKind { name, title, .. } in sending_channels() {
        let has_provider = rules.channels.get(*name).is_some_and(|c| !c.providers.is_empty());
        let mut types = rules.types.values();
        if !has_provider && types.any(|kind| kind.channels.contains_key(*name)) {
            warnings.push(format!(
                "types have {title}, but [channels.{name}] has no provider; for development write `provider = \"caught://\"`"
            ));
        }
    }
    warnings
}
