//! Messages of made-up items, in one language or in several side by side.

use minijinja::context;
use tidings_core::channel::EMAIL;
use tidings_core::{Batch, Id, Rules};
use tidings_mail::{Bodies, Design, Mail, Sender, digest_sample, sample};

use crate::html::fill;
use crate::wording::{did_you_mean, quoted};

/// The thing whose message is shown.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A type.
    Type(Id),
    /// A digest, with each type that comes with it.
    Digest(String),
}

impl What {
    /// The type or the digest of a name.
    ///
    /// # Errors
    /// There is neither, or nothing comes with the digest by e-mail; what to write instead.
    pub(crate) fn of(name: &str, rules: &Rules) -> Result<Self, String> {
        if rules.types.contains_key(name)
            && let Ok(kind) = Id::new(name)
        {
            return Ok(Self::Type(kind));
        }
        if !rules.digests.contains_key(name) {
            let names = rules.types.keys().chain(rules.digests.keys()).map(String::as_str);
            let near = did_you_mean(name, names).unwrap_or_default();
            let message = format!("unknown type {}. {near}", quoted(name));
            return Err(message.trim_end().to_owned());
        }
        match digest_sample(name, rules, "en", 1).entries {
            1.. => Ok(Self::Digest(name.to_owned())),
            0 => Err(format!("no type has the digest {} by e-mail", quoted(name))),
        }
    }

    /// The names of all that can be shown.
    pub(crate) fn names(rules: &Rules) -> Vec<&str> {
        let digests = rules.digests.keys().map(String::as_str);
        let digests = digests
            .filter(|name| !rules.types.contains_key(*name) && Self::of(name, rules).is_ok());
        rules.types.keys().map(String::as_str).chain(digests).collect()
    }

    /// The batch of a message to somebody with a locale.
    pub(crate) fn batch(&self, rules: &Rules, locale: &str, items: usize) -> Batch {
        match self {
            Self::Type(kind) => sample(kind, rules, locale, items),
            Self::Digest(name) => digest_sample(name, rules, locale, items),
        }
    }
}

/// A mail of made-up items.
#[derive(Debug)]
pub(crate) struct Made {
    /// The locale of its reader.
    pub(crate) locale: String,
    /// The language that it is in.
    pub(crate) lang: String,
    pub(crate) mail: Mail,
    pub(crate) bodies: Bodies,
}

/// The design of a configuration's mails.
///
/// # Errors
/// A configuration that was not checked.
pub(crate) fn design(rules: &Rules) -> Result<Design, String> {
    let from = rules.channels.get(EMAIL).and_then(|email| email.from.as_deref());
    let sender = Sender::parse(from.unwrap_or("Tidings <tidings@example.org>"));
    let sender = sender.map_err(|fault| fault.to_string())?;
    Design::new(sender, rules).map_err(|fault| fault.to_string())
}

/// The mail of a batch.
///
/// # Errors
/// A template of the host's that fails.
pub(crate) fn made(batch: &Batch, design: &Design) -> Result<Made, String> {
    let content = tidings_mail::content(batch, design);
    let mail = tidings_mail::render(batch, design);
    let (_, bodies) = content.map_err(|fault| fault.to_string())?;
    Ok(Made {
        locale: batch.locale.clone(),
        lang: design.lang(batch),
        mail: mail.map_err(|fault| fault.to_string())?,
        bodies,
    })
}

/// What a page of mails side by side lets its reader choose.
pub(crate) struct Chosen<'a> {
    /// The types and digests.
    pub(crate) names: Vec<&'a str>,
    /// The locales, with commas.
    pub(crate) locales: String,
    /// Number of items.
    pub(crate) items: u16,
    /// The tenants.
    pub(crate) tenants: Vec<String>,
    /// The tenant that is shown; empty = none.
    pub(crate) tenant: String,
}

/// The page that shows mails side by side; `link` is the address of the HTML of one. Without a choice it is a file.
///
/// # Errors
/// A template of this program that fails.
pub(crate) fn side_by_side(
    title: &str,
    all: &[Made],
    link: impl Fn(&Made) -> String,
    chosen: Option<&Chosen<'_>>,
) -> Result<String, minijinja::Error> {
    let mails = all.iter().map(|made| {
        context! {
            locale => made.locale.clone(),
            lang => made.lang.clone(),
            subject => made.mail.subject.clone(),
            link => link(made),
        }
    });
    let chosen = chosen.map(|chosen| {
        let names: Vec<String> = chosen.names.iter().map(|name| (*name).to_owned()).collect();
        context! {
            names, locales => chosen.locales.clone(), items => chosen.items,
            tenants => chosen.tenants.clone(), tenant => chosen.tenant.clone(),
        }
    });
    fill("side_by_side", context! { title, chosen, mails => mails.collect::<Vec<_>>() })
}
