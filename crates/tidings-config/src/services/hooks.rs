//! The sections `[[hooks]]`: services of the host that are called about occurrences.

use std::collections::BTreeSet;

use tidings_core::model::OccurrenceKind;
use tidings_core::rules::HookRules;
use tidings_node::channel::HostPlace;

use super::resolver::secret;
use crate::walk::{ConfigReader, Section};
use crate::wording::quoted;

/// The longest name of a hook, in bytes.
const NAME_BYTES_MAX: usize = 64;

pub(crate) fn hooks(walk: &mut ConfigReader, root: &Section<'_>) -> Vec<HookRules> {
    let tables = walk.tables(root, "hooks", "write `[[hooks]]`");
    let mut names = BTreeSet::new();
    let hooks = tables.iter().filter_map(|table| hook(walk, table, &mut names));
    hooks.collect()
}

fn hook(
    walk: &mut ConfigReader,
    table: &Section<'_>,
    names: &mut BTreeSet<String>,
) -> Option<HookRules> {
    walk.only(table, &["name", "url", "secret", "of", "allow_private"]);
    for (key, example) in [
        ("url", "url = \"https://app.example.org/tidings\""),
        ("secret", "secret = \"${HOOK_SECRET}\""),
        ("of", "of = [\"message.failed\", \"message.bounced\"]"),
    ] {
        if !table.has(key) {
            walk.missing(table, key, &format!("add `{example}`"));
        }
    }
    let allow_private = walk.flag(table, "allow_private").unwrap_or_default();
    let url = url(walk, table, allow_private);
    let secret = secret(walk, table, "secret");
    let of = of(walk, table);
    let name = name(walk, table, url.as_deref(), names);
    Some(HookRules { name: name?, url: url?, secret: secret?, of: of?, allow_private })
}

fn url(walk: &mut ConfigReader, table: &Section<'_>, allow_private: bool) -> Option<String> {
    let hint = "write `https://app.example.org/tidings`; a secret goes into `secret`";
    let text = walk.text(table, "url", hint)?;
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '#' | '@');
    let scheme = text.value.split_once("://").map(|(scheme, _)| scheme);
    let place = HostPlace::of(text.value)
        .filter(|_| matches!(scheme, Some("https" | "http")))
        .filter(|_| text.value.chars().all(is_plain));
    let Some(place) = place else {
        walk.bad(&text.span, "`hooks.url` is no http or https URL", hint);
        return None;
    };
    let reason = match (scheme, place) {
        _ if allow_private => None,
        (Some("http"), HostPlace::Elsewhere | HostPlace::Private) => {
            Some("a hook is called over `http` on this machine only")
        }
        (_, HostPlace::Private) => Some("the host of a hook is not of the public network"),
        _ => None,
    };
    if let Some(reason) = reason {
        let hint = "write `https://…` with a public host, or `allow_private = true` where the network is your own";
        walk.bad(&text.span, reason, hint);
        return None;
    }
    Some(text.value.to_owned())
}

fn of(walk: &mut ConfigReader, table: &Section<'_>) -> Option<BTreeSet<OccurrenceKind>> {
    let names = OccurrenceKind::ALL.map(OccurrenceKind::name);
    let found = walk.words(table, "of", &names)?;
    if found.value.is_empty() {
        let hint = "name what it is told, such as `of = [\"message.failed\"]`, or remove the hook";
        walk.bad(&found.span, "`hooks.of` is empty", hint);
        return None;
    }
    let kinds = OccurrenceKind::ALL.into_iter();
    Some(kinds.filter(|kind| found.value.contains(&kind.name())).collect())
}

/// The name of a hook; by default its host.
fn name(
    walk: &mut ConfigReader,
    table: &Section<'_>,
    url: Option<&str>,
    names: &mut BTreeSet<String>,
) -> Option<String> {
    let hint = "write a name of letters, digits, `.`, `_` and `-`, such as `name = \"app\"`";
    let (name, span) = match walk.text(table, "name", hint) {
        Some(text) => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let is_name = (1..=NAME_BYTES_MAX).contains(&text.value.len())
                && text.value.chars().all(is_plain);
            if !is_name {
                let reason = format!("{} is not the name of a hook", quoted(text.value));
                walk.bad(&text.span, reason, hint);
                return None;
            }
            (text.value.to_owned(), text.span)
        }
        None if table.has("name") => return None,
        None => (host(url?)?.to_owned(), table.header.clone()),
    };
    if !names.insert(name.clone()) {
        let reason = format!("two hooks have the name {}", quoted(&name));
        walk.bad(&span, reason, "give one of them another `name`");
        return None;
    }
    Some(name)
}

fn host(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?']).next()?;
    match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(host, _)| host),
        None => authority.split(':').next(),
    }
}
