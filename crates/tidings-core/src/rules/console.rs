//! The rules of the console: where it is, who signs in there, and what it shows (contract, section 11).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::network::Network;
use crate::model::changes::Role;

/// The path of the console where its address has none.
pub const CONSOLE_PATH: &str = "/console";

/// The rules of the console, and of the tools of assistants beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleRules {
    /// The address under which people open it; `None` = on this machine alone.
    pub url: Option<ConsoleUrl>,
    /// Further names of its host, in small letters.
    pub hosts: Vec<String>,
    /// The proxy that signs people in; `None` = keys alone do.
    pub proxy: Option<ConsoleProxy>,
    /// The header, or the claim, with the groups of a person; `None` = the proxy names none.
    pub groups: Option<String>,
    /// The roles of the proxy's people.
    pub roles: ConsoleRoles,
    /// The fields of `data` that are not masked, such as `data.plan`.
    pub show: Vec<String>,
}

/// The address of the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleUrl {
    /// True if it is `https`.
    pub is_https: bool,
    /// The name of the host, in small letters; an address of IPv6 is in brackets.
    pub host: String,
    /// The port; `None` = the usual one of the scheme.
    pub port: Option<u16>,
    /// The path, such as [`CONSOLE_PATH`]: it begins with a slash and does not end with one.
    pub path: String,
}

/// A proxy in front of the console, which says who a person is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConsoleProxy {
    /// By a plain header.
    Header(HeaderProxy),
    /// By a signed token.
    Jwt(JwtProxy),
}

/// A proxy that names a person in a header, which counts from its own addresses alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderProxy {
    /// The name of the header.
    pub header: String,
    /// The networks of the proxy, at least one.
    pub trusted: Vec<Network>,
}

/// A proxy that names a person in a token (RFC 7519) which it signs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JwtProxy {
    /// The name of the header that has the token.
    pub header: String,
    /// The URL of the keys that check signatures (RFC 7517).
    pub keys: String,
    /// The `iss` of its tokens.
    pub issuer: String,
    /// The `aud` of its tokens.
    pub audience: String,
    /// The claim that names the person.
    pub claim: String,
}

/// The roles of people and of their groups, whose names are the same in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleRoles {
    people: BTreeMap<String, Role>,
    groups: BTreeMap<String, Role>,
}

/// The beginning of a group's entry among the roles of people.
const GROUP: &str = "group:";

impl ConsoleRoles {
    /// Gives a role to a person, or to those of a group (`group:NAME`). Returns the role that the entry had before.
    pub fn set(&mut self, entry: &str, role: Role) -> Option<Role> {
        match entry.strip_prefix(GROUP) {
            Some(group) => self.groups.insert(folded(group), role),
            None => self.people.insert(folded(entry), role),
        }
    }

    /// The role of a person: that of their own entry, or the greatest of their groups; `None` = they have none.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::Role;
    /// use tidings_core::rules::ConsoleRoles;
    ///
    /// let mut roles = ConsoleRoles::default();
    /// roles.set("group:support", Role::Support);
    /// roles.set("mara@example.org", Role::Read);
    /// assert_eq!(roles.of("eve@example.org", ["Support"]), Some(Role::Support));
    /// assert_eq!(roles.of("Mara@example.org", ["support"]), Some(Role::Read));
    /// // A person is no group, whatever they are called.
    /// assert_eq!(roles.of("group:support", []), None);
    /// ```
    pub fn of<'g>(&self, person: &str, groups: impl IntoIterator<Item = &'g str>) -> Option<Role> {
        let own = self.people.get(&folded(person)).copied();
        let of_groups = || groups.into_iter().filter_map(|group| self.groups.get(&folded(group)));
        own.or_else(|| of_groups().max().copied())
    }

    /// Returns true if nobody has a role.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.people.is_empty() && self.groups.is_empty()
    }
}

/// A name in small letters. No letter becomes one of ASCII that was none: the Kelvin sign is no `k`, else somebody could
/// be given the name of another.
fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii() {
            folded.push(letter.to_ascii_lowercase());
        } else if letter.to_lowercase().any(|small| small.is_ascii()) {
            folded.push(letter);
        } else {
            folded.extend(letter.to_lowercase());
        }
    }
    folded
}

/// Writes its scheme, host and port: the origin of its pages (RFC 6454).
impl fmt::Display for ConsoleUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        write!(out, "{scheme}://{}", self.host)?;
        match self.port {
            Some(port) => write!(out, ":{port}"),
            None => Ok(()),
        }
    }
}

impl ConsoleRules {
    /// The path of its pages.
    #[must_use]
    pub fn path(&self) -> &str {
        self.url.as_ref().map_or(CONSOLE_PATH, |url| &url.path)
    }

    /// The address of one of its pages, such as `messages?state=failed`; `None` = it has no address of its own.
    #[must_use]
    pub fn page(&self, page: &str) -> Option<String> {
        let url = self.url.as_ref()?;
        Some(format!("{url}{}/{page}", url.path))
    }

    /// Returns true if a host, by its name alone, is that of its address, or a further one.
    #[must_use]
    pub fn knows_host(&self, host: &str) -> bool {
        let known = self.url.iter().map(|url| &url.host).chain(&self.hosts);
        known.into_iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

impl HeaderProxy {
    /// Returns true if the header counts from a peer: an address of IPv6, or the one to which one of IPv4 is mapped.
    #[must_use]
    pub fn trusts(&self, peer: [u8; 16]) -> bool {
        self.trusted.iter().any(|network| network.contains(peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_entry_counts_before_groups_and_the_greatest_of_these() {
        let mut roles = ConsoleRoles::default();
        assert!(roles.is_empty());
        assert_eq!(roles.set("group:all", Role::Figures), None);
        assert_eq!(roles.set("group:desk", Role::Support), None);
        assert_eq!(roles.set("group:shop", Role::Publish), None);
        assert_eq!(roles.set("mara@example.org", Role::Figures), None);
        assert_eq!(roles.of("ben", ["all", "desk"]), Some(Role::Support));
        assert_eq!(roles.of("ben", ["SHOP", "desk", "all"]), Some(Role::Publish));
        assert_eq!(roles.of("mara@example.org", ["shop"]), Some(Role::Figures));
        assert_eq!(roles.of("ben", ["others", "group:shop"]), None);
        assert_eq!(roles.set("MARA@example.org", Role::Admin), Some(Role::Figures));
    }

    #[test]
    fn a_name_is_the_same_in_any_case_and_no_other_becomes_it() {
        let mut roles = ConsoleRoles::default();
        roles.set("MÜLLER@example.org", Role::Read);
        roles.set("kim", Role::Admin);
        assert_eq!(roles.of("müller@Example.ORG", []), Some(Role::Read));
        assert_eq!(roles.of("KIM", []), Some(Role::Admin));
        // The Kelvin sign, whose small letter is `k`, and a capital `I` with a dot.
        for other in ["\u{212a}im", "k\u{130}m", "ki\u{307}m"] {
            assert_eq!(roles.of(other, []), None, "{other}");
        }
    }
}
