//! The addresses of all providers: `SCHEME://[USER[:SECRET]@]PLACE[?OPTION=VALUE&…]`, read as URLs are (RFC 3986).
//!
//! Each part may be `${NAME}`, which is looked up and taken as it is. A part that is a secret has to be. Any other part
//! may have escapes, `%40` for an `@`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::super::ProviderOpenError;
use super::AllowedHosts;

/// A lookup of secrets by name.
pub(crate) type SecretLookup<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// An address of a provider in its parts.
pub(crate) struct ProviderUrl<'a> {
    scheme: &'a str,
    login: Option<(&'a str, Option<&'a str>)>,
    place: &'a str,
    options: BTreeMap<&'a str, &'a str>,
    secrets: SecretLookup<'a>,
}

fn fault(why: impl Into<String>) -> ProviderOpenError {
    ProviderOpenError::Address(why.into())
}

/// The options of a query, each once.
fn options(query: &str) -> Result<BTreeMap<&str, &str>, ProviderOpenError> {
    let mut options = BTreeMap::new();
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option
            .split_once('=')
            .filter(|(_, value)| !value.is_empty())
            .ok_or_else(|| fault("an option is `NAME=VALUE`"))?;
        if options.insert(name, value).is_some() {
            return Err(fault(format!("`{name}` stands there twice")));
        }
    }
    Ok(options)
}

/// A part without its escapes.
fn decoded(part: &str) -> Result<Cow<'_, str>, ProviderOpenError> {
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !part.split('%').skip(1).all(is_escape) {
        return Err(fault(
            "`%` begins an escape such as `%40`; write `%25` for one that stands for itself",
        ));
    }
    let text = percent_decode_str(part).decode_utf8();
    text.map_err(|_| fault("its escapes are no UTF-8"))
}

/// The name in `${NAME}`.
fn name_of(part: &str) -> Option<&str> {
    part.strip_prefix("${")?.strip_suffix('}').filter(|name| !name.is_empty())
}

impl<'a> ProviderUrl<'a> {
    /// Reads what follows `SCHEME://`.
    pub(crate) fn parse(
        scheme: &'a str,
        rest: &'a str,
        secrets: SecretLookup<'a>,
    ) -> Result<Self, ProviderOpenError> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (login, place) = match rest.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, rest),
        };
        let login = login.map(|login| match login.split_once(':') {
            Some((user, secret)) => (user, Some(secret)),
            None => (login, None),
        });
        Ok(Self { scheme, login, place, options: options(query)?, secrets })
    }

    /// Reads what follows `SCHEME://` where it is a path, which has no login.
    pub(crate) fn of_path(
        scheme: &'a str,
        rest: &'a str,
        secrets: SecretLookup<'a>,
    ) -> Result<Self, ProviderOpenError> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let url = Self::parse(scheme, "", secrets)?;
        Ok(Self { place, options: options(query)?, ..url })
    }

    fn look_up(&self, name: &str) -> Result<String, ProviderOpenError> {
        (self.secrets)(name).map_err(|why| ProviderOpenError::Secret { name: name.to_owned(), why })
    }

    fn text(&self, part: &str) -> Result<String, ProviderOpenError> {
        match name_of(part) {
            Some(name) => self.look_up(name),
            None => decoded(part).map(Cow::into_owned),
        }
    }

    fn secret(&self, part: &str) -> Result<String, ProviderOpenError> {
        self.look_up(name_of(part).ok_or(ProviderOpenError::PlainPassword)?)
    }

    /// The user of a login, with their secret where it is there; `None` = there is no login.
    pub(crate) fn login(&self) -> Result<Option<(String, Option<String>)>, ProviderOpenError> {
        let Some((user, secret)) = self.login else {
            return Ok(None);
        };
        if user.is_empty() || secret == Some("") {
            return Err(fault("write `user:${NAME}@` before the host"));
        }
        let secret = secret.map(|secret| self.secret(secret)).transpose()?;
        Ok(Some((self.text(user)?, secret)))
    }

    /// The name of a secret that is looked up apart from the address.
    pub(crate) fn named_secret(&self, name: &str) -> Result<String, ProviderOpenError> {
        self.look_up(name)
    }

    /// The place without its escapes, as it is written: the path of a file.
    pub(crate) fn whole_place(&self) -> Result<String, ProviderOpenError> {
        decoded(self.place).map(Cow::into_owned)
    }

    /// The place without its escapes and without a slash at its end.
    pub(crate) fn plain_place(&self) -> Result<String, ProviderOpenError> {
        decoded(self.bare_place()).map(Cow::into_owned)
    }

    fn bare_place(&self) -> &'a str {
        self.place.strip_suffix('/').unwrap_or(self.place)
    }

    /// Takes an option out that is a secret.
    pub(crate) fn secret_option(
        &mut self,
        name: &str,
    ) -> Result<Option<String>, ProviderOpenError> {
        let value = self.options.remove(name);
        value.map(|value| self.secret(value)).transpose()
    }

    /// The place, which is a secret.
    pub(crate) fn secret_place(&self) -> Result<String, ProviderOpenError> {
        if self.login.is_some() || self.bare_place().is_empty() {
            let form = format!("write `{}://${{NAME}}`", self.scheme);
            return Err(fault(form));
        }
        self.secret(self.bare_place())
    }

    /// The place, which may be left out or is a secret.
    pub(crate) fn secret_place_or_none(&self) -> Result<Option<String>, ProviderOpenError> {
        match (self.login, self.bare_place()) {
            (None, "") => Ok(None),
            _ => self.secret_place().map(Some),
        }
    }

    /// Refuses a place and a login, which have no meaning here.
    pub(crate) fn nowhere(&self) -> Result<(), ProviderOpenError> {
        match (self.login, self.bare_place()) {
            (None, "") => Ok(()),
            _ => Err(fault(format!("write `{}://` alone", self.scheme))),
        }
    }

    /// Takes the option `base` out, for providers whose addresses recipients name: a server that is called in place of
    /// the addresses' own, with their paths.
    pub(crate) fn detour(&mut self) -> Result<EndpointRoute, ProviderOpenError> {
        Ok(EndpointRoute(if self.options.contains_key("base") {
            Some(self.base("")?)
        } else {
            None
        }))
    }

    /// The place after a login, a name such as that of a domain.
    pub(crate) fn place(&self, what: &str) -> Result<String, ProviderOpenError> {
        let place = self.text(self.bare_place())?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if name_of(self.bare_place()).is_some() || (!place.is_empty() && place.chars().all(is_name))
        {
            Ok(place)
        } else {
            Err(fault(format!("{what} stands behind the `@`")))
        }
    }

    /// A secret before the place, without a user.
    pub(crate) fn key(&self) -> Result<String, ProviderOpenError> {
        match self.login {
            Some((key, None)) => self.secret(key),
            _ => Err(fault(format!("write `{}://${{NAME}}@…`", self.scheme))),
        }
    }

    /// A user with a secret, before the place or in its stead.
    pub(crate) fn user(&self) -> Result<(String, String), ProviderOpenError> {
        let pair = match self.login {
            Some((user, Some(secret))) => Some((user, secret)),
            Some((_, None)) => None,
            // `${A}:${B}`: the place has no port.
            None => self.bare_place().split_once(':'),
        };
        let (user, secret) = pair
            .filter(|(user, _)| !user.is_empty())
            .ok_or_else(|| fault(format!("write `{}://NAME:${{SECRET}}`", self.scheme)))?;
        Ok((self.text(user)?, self.secret(secret)?))
    }

    /// Takes an option out.
    pub(crate) fn option(&mut self, name: &str) -> Result<Option<String>, ProviderOpenError> {
        let value = self.options.remove(name);
        value.map(|value| self.text(value)).transpose()
    }

    /// Takes the option `base` out: another server of the same shape, in place of the provider's own.
    pub(crate) fn base(&mut self, own: &str) -> Result<String, ProviderOpenError> {
        let Some(base) = self.option("base")? else {
            return Ok(own.to_owned());
        };
        let link = tidings_mail::web_address(&base);
        link.map(|link| link.trim_end_matches('/').to_owned())
            .ok_or_else(|| fault("`base` is an address, such as `https://mail.example.org`"))
    }

    /// Refuses options that were not used.
    pub(crate) fn done(self) -> Result<(), ProviderOpenError> {
        match self.options.keys().next() {
            None => Ok(()),
            Some(name) => Err(fault(format!("`{}://` has no option `{name}`", self.scheme))),
        }
    }
}

/// The way to addresses that recipients name.
pub(crate) struct EndpointRoute(Option<String>);

impl EndpointRoute {
    /// The address to call for a recipient's.
    pub(crate) fn to(&self, address: &str) -> String {
        let Some(base) = &self.0 else {
            return address.to_owned();
        };
        let path =
            address.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
        format!("{base}{}", path.unwrap_or_default())
    }

    /// The hosts that it may call: the configuration names that of a detour.
    pub(crate) fn reach(&self) -> AllowedHosts {
        match self.0 {
            Some(_) => AllowedHosts::Anywhere,
            None => AllowedHosts::Public,
        }
    }

    /// The address for operators.
    pub(crate) fn shown(&self) -> &str {
        self.0.as_deref().unwrap_or("by each address")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: SecretLookup<'static> = &|name: &str| Ok(format!("value of {name}, 100%"));

    #[test]
    fn field_4_each_part_of_an_address_is_read_as_of_a_url() {
        let rest =
            "art%40example.org:${PW}@mail.example.org?base=http%3A%2F%2Flocalhost%3A1&set=a%26b";
        let mut url = ProviderUrl::parse("x", rest, SECRETS).unwrap();
        // What is looked up is taken as it is.
        let login = ("art@example.org".to_owned(), Some("value of PW, 100%".to_owned()));
        assert_eq!(url.login().unwrap(), Some(login));
        assert_eq!(url.option("set").unwrap().as_deref(), Some("a&b"));
        assert_eq!(url.base("").unwrap(), "http://localhost:1");
        let windows = ProviderUrl::parse("x", "SITE%5Cart:${PW}@h", SECRETS).unwrap();
        assert_eq!(windows.login().unwrap().unwrap().0, "SITE\\art");
        for broken in ["a%4:${PW}@h", "a%:${PW}@h", "a%zz:${PW}@h", "a%ff:${PW}@h"] {
            let url = ProviderUrl::parse("x", broken, SECRETS).unwrap();
            assert!(url.login().is_err(), "{broken}");
        }
    }
}
