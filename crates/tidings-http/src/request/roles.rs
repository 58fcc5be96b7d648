//! Roles of API keys: which of them may make a call.

use tidings_node::Role;

/// The roles whose keys may make a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roles(Vec<Role>);

impl Roles {
    /// Reads the least roles that may make a call, with commas; those that include one of them may as well.
    /// `None` = there is no such role.
    pub(crate) fn of_least(words: &str) -> Option<Self> {
        let least: Vec<Role> = words.split(',').map(Role::named).collect::<Option<_>>()?;
        let may = |role: &Role| least.iter().any(|of| of == role || included(*role).contains(of));
        Some(Self(Role::ALL.into_iter().filter(may).collect()))
    }

    /// Returns true if a key of a role may make such a call.
    pub(crate) fn allow(&self, role: Role) -> bool {
        self.0.contains(&role)
    }

    /// Returns true if a key of any role may make such a call.
    pub(crate) fn are_all(&self) -> bool {
        self.0.len() == Role::ALL.len()
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|role| role.name())
    }

    /// The reason why a key of a role may not make such a call.
    pub(crate) fn lacking(&self, role: Role) -> String {
        let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
        let needed = match names.as_slice() {
            [] => "none".to_owned(),
            [name] => name.clone(),
            [names @ .., last] => format!("{} or {last}", names.join(", ")),
        };
        format!("the API key has the role `{}`; the call needs the role {needed}", role.name())
    }
}

/// The roles whose calls a role may make too.
fn included(role: Role) -> &'static [Role] {
    match role {
        Role::Figures => &[],
        Role::Read => &[Role::Figures],
        Role::Support | Role::Publish => &[Role::Figures, Role::Read],
        Role::Operate => &[Role::Figures, Role::Read, Role::Support],
        Role::Admin => &[Role::Figures, Role::Read, Role::Support, Role::Publish, Role::Operate],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_that_include_another_may_make_its_calls() {
        for (least, expected) in [
            ("figures", "figures read support publish operate admin"),
            ("read", "read support publish operate admin"),
            ("support", "support operate admin"),
            ("publish", "publish admin"),
            ("publish,support", "support publish operate admin"),
            ("operate", "operate admin"),
            ("admin", "admin"),
        ] {
            let roles = Roles::of_least(least).unwrap();
            assert_eq!(roles.names().collect::<Vec<_>>().join(" "), expected, "{least}");
        }
        for none in ["", "root", "publish,", "publish support"] {
            assert_eq!(Roles::of_least(none), None, "{none}");
        }
    }

    #[test]
    fn a_refusal_names_the_roles_that_may() {
        let detail = |least| Roles::of_least(least).unwrap().lacking(Role::Read);
        assert!(detail("admin").ends_with("needs the role `admin`"));
        assert!(detail("support").ends_with("needs the role `support`, `operate` or `admin`"));
    }
}
