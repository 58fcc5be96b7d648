//! The section `[console]`: where its pages are, who signs in there, and what they show.

mod address;
mod proxy;

use tidings_core::Rules;
use tidings_core::model::Role;
use tidings_core::rules::{ConsoleProxy, ConsoleRoles, ConsoleRules, ConsoleUrl};

use self::address::{host_name, read_url};
use self::proxy::ProxySection;
use crate::walk::{ConfigReader, PlacedValue, Section};
use crate::wording::quoted;

/// The section `[console]` while it is read.
pub(crate) struct ConsoleSection<'w, 't> {
    walk: &'w mut ConfigReader,
    section: Section<'t>,
}

impl<'w, 't> ConsoleSection<'w, 't> {
    pub(crate) fn read(walk: &'w mut ConfigReader, root: &Section<'t>) -> Option<ConsoleRules> {
        let section = walk.section(root, "console", "write `[console]`")?;
        walk.only(&section, &["url", "hosts", "proxy", "groups", "roles", "show"]);
        Some(Self { walk, section }.rules())
    }

    fn rules(mut self) -> ConsoleRules {
        ConsoleRules {
            url: self.url(),
            hosts: self.hosts(),
            proxy: ProxySection::read(self.walk, &self.section),
            groups: self.groups(),
            roles: self.roles().unwrap_or_default(),
            show: self.show(),
        }
    }

    fn url(&mut self) -> Option<ConsoleUrl> {
        let hint = "write scheme, host and path, such as `https://tidings.example.org/console`";
        let text = self.walk.text(&self.section, "url", hint)?;
        let url = read_url(text.value);
        if let Err(fault) = &url {
            self.walk.bad(&text.span, format!("`console.url` {fault}"), hint);
        }
        url.ok()
    }

    fn hosts(&mut self) -> Vec<String> {
        let hint =
            "write names alone, without scheme, port and path, such as `[\"tidings.internal\"]`";
        let mut hosts = Vec::new();
        for text in self.texts("hosts", hint) {
            match host_name(text.value) {
                Some(name) => hosts.push(name),
                None => {
                    let reason = format!("{} is not the name of a host", quoted(text.value));
                    self.walk.bad(&text.span, reason, hint);
                }
            }
        }
        hosts
    }

    fn groups(&mut self) -> Option<String> {
        let hint = "write the name of the header with the groups, such as `X-Forwarded-Groups`, or of the claim";
        let text = self.walk.text(&self.section, "groups", hint)?;
        let signs = self.section.value("proxy").is_some_and(proxy::signs);
        if !self.section.has("proxy") {
            let hint = "add `proxy`, or remove it: keys have no groups";
            self.walk.bad(&text.span, "`console.groups` are those that a proxy names", hint);
        } else if text.value.is_empty() || !(signs || proxy::is_header_name(text.value)) {
            let reason = format!("`console.groups` cannot be {}", quoted(text.value));
            self.walk.bad(&text.span, reason, hint);
        }
        Some(text.value.to_owned())
    }

    fn roles(&mut self) -> Option<ConsoleRoles> {
        let hint = "write `roles = { \"mara@example.org\" = \"operate\", \"group:support\" = \"support\" }`";
        let walk = &mut *self.walk;
        let section = walk.section(&self.section, "roles", hint)?;
        let words = Role::ALL.map(Role::name);
        let mut roles = ConsoleRoles::default();
        for entry in section.keys() {
            walk.id(&entry, "person or group");
            if entry.value == "group:" {
                walk.bad(&entry.span, "`group:` names no group", "write `group:NAME`");
            }
            let Some(word) = walk.word(&section, entry.value, &words) else {
                continue;
            };
            let role = Role::named(word);
            if role.and_then(|role| roles.set(entry.value, role)).is_some() {
                let reason = format!("{} has a role already", quoted(entry.value));
                walk.bad(&entry.span, reason, "keep one of the two: capitals make no difference");
            }
        }
        Some(roles)
    }

    fn show(&mut self) -> Vec<String> {
        let hint = "write `data.` and the name of the field, such as `[\"data.plan\"]`";
        let mut fields = Vec::new();
        for text in self.texts("show", hint) {
            let field = text.value.strip_prefix("data.");
            if field.is_some_and(|field| field.split('.').all(|name| !name.is_empty())) {
                self.walk.id(&text, "field");
            } else {
                let reason = format!("{} is not a field of `data`", quoted(text.value));
                self.walk.bad(&text.span, reason, hint);
            }
            fields.push(text.value.to_owned());
        }
        fields
    }

    fn texts(&mut self, key: &str, hint: &str) -> Vec<PlacedValue<&'t str>> {
        let texts = self.walk.texts(&self.section, key, hint);
        texts.map(|texts| texts.value).unwrap_or_default()
    }
}

/// Warnings about settings of the console that are probably not intended.
pub(crate) fn warnings(rules: &Rules) -> Vec<String> {
    let Some(console) = &rules.console else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    match (&console.proxy, console.roles.is_empty()) {
        (Some(_), true) => warnings.push(
            "[console] has a `proxy`, but no `roles`: nobody who comes by it may see anything"
                .to_owned(),
        ),
        (None, false) => warnings.push(
            "`roles` of [console] are those of a proxy's people, but it has no `proxy`".to_owned(),
        ),
        _ => {}
    }
    if let Some(ConsoleProxy::Header(proxy)) = &console.proxy
        && proxy.trusted.iter().any(proxy::is_everybody)
    {
        warnings.push(format!(
            "`trusted` of [console] has every address: whoever reaches the server is whom they name in `{}`",
            proxy.header
        ));
    }
    warnings
}
