//! People: who they are by the word of a proxy, and what a session of theirs is kept by.

use crate::api::{Caller, CallerKind, Way};

/// A person, as a proxy names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyPerson {
    /// The name: mostly an address of mail.
    pub name: String,
    /// Their groups.
    pub groups: Vec<String>,
}

/// The origin under which people open the console.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The scheme, host and port; `None` = on this machine alone.
    pub origin: Option<String>,
}

impl Place {
    fn is_https(&self) -> bool {
        self.origin.as_deref().is_some_and(|origin| origin.starts_with("https://"))
    }

    /// The name of the cookie.
    pub(crate) fn cookie(&self) -> &'static str {
        if self.is_https() { "__Host-tidings" } else { "tidings-console" }
    }

    /// The cookie of a session, as it is set.
    pub(crate) fn set_cookie(&self, secret: &str) -> String {
        let secure = if self.is_https() { "; Secure" } else { "" };
        let name = self.cookie();
        // Twelve hours are the longest that a session lasts.
        format!("{name}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200{secure}")
    }

    /// The cookie that takes that of a session away.
    pub(crate) fn clear_cookie(&self) -> String {
        self.set_cookie("").replace("Max-Age=43200", "Max-Age=0")
    }
}

impl ProxyPerson {
    pub(crate) fn caller(&self, role: &'static str) -> Caller {
        Caller { kind: CallerKind::Person, id: self.name.clone(), role, way: Way::Console }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_of_https_is_bound_to_its_host() {
        let place = Place { origin: Some("https://tidings.example.org:8443".to_owned()) };
        assert_eq!(
            place.set_cookie("s"),
            "__Host-tidings=s; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure"
        );
        let plain = Place::default();
        assert!(plain.set_cookie("s").starts_with("tidings-console=s; Path=/; HttpOnly"));
        assert!(!plain.set_cookie("s").contains("Secure"));
    }
}
