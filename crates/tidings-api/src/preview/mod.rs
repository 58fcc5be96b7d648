//! Sample messages, in one language or in several side by side.

mod pictures;

use std::sync::Arc;

use minijinja::context;
use tidings_config::wording::{did_you_mean, quoted};
use tidings_core::content::Batch;
use tidings_core::model::EMAIL;
use tidings_core::{Id, Rules};
use tidings_mail::{Bodies, Design, Mail, Sender, digest_sample, sample};

use crate::html::{Template, fill};

const TEMPLATES: [Template; 1] = [("side_by_side", include_str!("page.html"))];

/// The type or the digest of a sample message.
#[derive(Clone, Debug)]
pub enum Sample {
    /// A type.
    Type(Id),
    /// A digest, with each type that comes with it.
    Digest(String),
}

impl Sample {
    /// Finds the type or the digest of a name.
    ///
    /// # Errors
    /// No type or digest has the name, or no type has the digest by e-mail; the text has a hint.
    pub fn of(name: &str, rules: &Rules) -> Result<Self, String> {
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

    /// The names of all types, and of the digests that have types.
    pub fn names(rules: &Rules) -> Vec<&str> {
        let digests = rules.digests.keys().map(String::as_str);
        let digests = digests
            .filter(|name| !rules.types.contains_key(*name) && Self::of(name, rules).is_ok());
        rules.types.keys().map(String::as_str).chain(digests).collect()
    }

    /// The batch of a sample message to a recipient with a locale.
    #[must_use]
    pub fn batch(&self, rules: &Rules, locale: &str, shown: SampleContent) -> Batch {
        let SampleContent { items, pictures } = shown;
        let mut batch = match self {
            Self::Type(kind) => sample(kind, rules, locale, items),
            Self::Digest(name) => digest_sample(name, rules, locale, items),
        };
        if !pictures {
            for line in batch.groups.iter_mut().flat_map(|group| &mut group.lines) {
                let object = Arc::make_mut(&mut line.object);
                (object.image, object.image_size) = (None, None);
            }
        }
        batch
    }
}

/// The content of a sample message.
#[derive(Clone, Copy, Debug)]
pub struct SampleContent {
    /// Number of items of each type.
    pub items: usize,
    /// True if they have pictures.
    pub pictures: bool,
}

/// A rendered sample mail.
#[derive(Debug)]
pub struct SampleMail {
    /// The locale of its recipient.
    pub locale: String,
    /// The language that it is in.
    pub lang: String,
    /// The mail.
    pub mail: Mail,
    /// Its bodies, whose pictures are drawn in.
    pub bodies: Bodies,
}

/// The design of a configuration's mails.
///
/// # Errors
/// The rules have a fault that `tidings check` reports.
pub fn design(rules: &Rules) -> Result<Design, String> {
    let from = rules.channels.get(EMAIL).and_then(|email| email.from.as_deref());
    let sender = Sender::parse(from.unwrap_or("Tidings <tidings@example.org>"));
    let sender = sender.map_err(|fault| fault.to_string())?;
    Design::new(sender, rules).map_err(|fault| fault.to_string())
}

/// Renders the mail of a batch.
///
/// # Errors
/// A template of the host fails.
pub fn render(batch: &Batch, design: &Design) -> Result<SampleMail, String> {
    let content = tidings_mail::content(batch, design);
    let mail = tidings_mail::render(batch, design);
    let (_, mut bodies) = content.map_err(|fault| fault.to_string())?;
    bodies.html = pictures::drawn(&bodies.html);
    Ok(SampleMail {
        locale: batch.locale.clone(),
        lang: design.lang(batch),
        mail: mail.map_err(|fault| fault.to_string())?,
        bodies,
    })
}

/// The values of the form on the page of mails side by side.
pub struct PreviewFormValues<'a> {
    /// The types and digests.
    pub names: Vec<&'a str>,
    /// The locales, with commas.
    pub locales: String,
    /// Number of items.
    pub items: usize,
    /// True if items have pictures.
    pub pictures: bool,
    /// The tenants.
    pub tenants: Vec<String>,
    /// The tenant that is shown; empty = none.
    pub tenant: String,
}

/// Renders the page that shows mails side by side; `link` returns the address of the HTML of a mail. Without `controls` the
/// page has no form, as in a file.
///
/// # Errors
/// The built-in template fails.
pub fn side_by_side(
    title: &str,
    mails: &[SampleMail],
    link: impl Fn(&SampleMail) -> String,
    controls: Option<&PreviewFormValues<'_>>,
) -> Result<String, minijinja::Error> {
    let mails = mails.iter().map(|mail| {
        context! {
            locale => mail.locale.clone(),
            lang => mail.lang.clone(),
            subject => mail.mail.subject.clone(),
            link => link(mail),
        }
    });
    let controls = controls.map(|controls| {
        let names: Vec<String> = controls.names.iter().map(|name| (*name).to_owned()).collect();
        context! {
            names, locales => controls.locales.clone(), items => controls.items,
            pictures => controls.pictures,
            tenants => controls.tenants.clone(), tenant => controls.tenant.clone(),
        }
    });
    fill(
        &TEMPLATES,
        "side_by_side",
        context! { title, chosen => controls, mails => mails.collect::<Vec<_>>() },
    )
}
