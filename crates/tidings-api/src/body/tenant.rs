//! Bodies of requests that change a tenant or its members.

use serde::{Deserialize, Deserializer};
use tidings_config::wording::quoted;
use tidings_config::{brand_check, mailbox_fault};
use tidings_core::model::{BrandChange, Choice, Data, TenantChange};
use tidings_core::rules::FormOfAddress;
use tidings_core::{Command, Id, Rules};
use utoipa::ToSchema;

use super::fault::{About, Fault};
use super::preference::{Preference, of_item};
use super::recipient::{Change, given, locale, name, tz};
use super::text::{self, Text};
use super::{id_of, quiet};

/// A tenant, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours).
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TenantChange, example = json!({"name": "Acme", "brand": {"color": "#0b57a4"}}))]
pub struct TenantBody {
    /// Id of the tenant; the same as in the path, if that has one.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 256)]
    id: Option<Text<Id>>,
    /// Name to show, at most 1 KiB.
    #[serde(default, deserialize_with = "name")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    name: Change<String>,
    /// Keys that override `[brand]`, one by one; null removes all.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<BrandBody>, required = false)]
    brand: Change<BrandBody>,
    /// Sender name of its messages, at most 1 KiB.
    #[serde(default, deserialize_with = "from_name")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    from_name: Change<String>,
    /// Mailbox for replies to its mails.
    #[serde(default, deserialize_with = "mailbox")]
    #[schema(value_type = Option<String>)]
    reply_to: Change<String>,
    /// BCP 47 locale, for recipients without one.
    #[serde(default, deserialize_with = "locale")]
    #[schema(value_type = Option<String>)]
    locale: Change<String>,
    /// IANA time zone, for recipients without one.
    #[serde(default, deserialize_with = "tz")]
    #[schema(value_type = Option<String>)]
    tz: Change<String>,
    /// Quiet hours, for recipients without their own: hours, null = none, `default` = those of each channel.
    #[serde(default, deserialize_with = "quiet::given")]
    #[schema(value_type = Option<quiet::QuietHoursShown>, required = false)]
    quiet_hours: Option<quiet::QuietHoursChange>,
    /// All its defaults, which replace the types' policies. Mutes are not allowed.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<Preference>>, required = false)]
    preferences: Change<Vec<Preference>>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>, required = false)]
    data: Change<Data>,
    /// True = publishing is refused, and pending notifications are cancelled.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = bool, required = false)]
    disabled: Change<bool>,
}

/// Keys of `[brand]`, with the same checks; null = that of the configuration.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BrandChange, example = json!({"name": "Acme", "color": "#0b57a4"}))]
pub struct BrandBody {
    /// Name at the head of mails.
    #[serde(default, deserialize_with = "brand_name")]
    #[schema(value_type = Option<String>)]
    name: Change<String>,
    /// Picture shown instead of the name.
    #[serde(default, deserialize_with = "logo")]
    #[schema(value_type = Option<String>)]
    logo: Change<String>,
    /// Picture for dark mode.
    #[serde(default, deserialize_with = "logo_dark")]
    #[schema(value_type = Option<String>)]
    logo_dark: Change<String>,
    /// Colour of links and buttons.
    #[serde(default, deserialize_with = "color")]
    #[schema(value_type = Option<String>)]
    color: Change<String>,
    /// Text at the foot of mails.
    #[serde(default, deserialize_with = "footer")]
    #[schema(value_type = Option<String>)]
    footer: Change<String>,
    /// Postal address at the foot of mails.
    #[serde(default, deserialize_with = "postal_address")]
    #[schema(value_type = Option<String>)]
    postal_address: Change<String>,
    /// Public address at the start of links.
    #[serde(default, deserialize_with = "url")]
    #[schema(value_type = Option<String>)]
    url: Change<String>,
    /// `familiar` or `formal`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, required = false)]
    address: Change<FormOfAddress>,
}

impl TenantBody {
    /// Reads the change of the tenant in the path or the body; `replaces` = absent fields return to their defaults.
    ///
    /// # Errors
    /// Returns a fault for an invalid value, or an id that differs from the path's.
    pub fn read(
        self,
        rules: &Rules,
        path: Option<Id>,
        replaces: bool,
    ) -> Result<(Id, TenantChange), Fault> {
        let tenant = id_of(path, self.id)?;
        if let Some(None) = self.disabled {
            let hint = "write true or false";
            return Err(Fault::new("`disabled` can't be null", hint));
        }
        let preferences = self.preferences.map(|list| defaults(rules, list.unwrap_or_default()));
        let brand = match self.brand {
            None => BrandChange::default(),
            Some(brand) => brand.map_or_else(none_of_brand, BrandBody::change),
        };
        let change = TenantChange {
            replaces,
            name: self.name,
            brand,
            from_name: self.from_name,
            reply_to: self.reply_to,
            locale: self.locale,
            tz: self.tz,
            quiet_hours: self.quiet_hours.map(quiet::QuietHoursChange::choice).transpose()?,
            preferences: preferences.transpose()?,
            data: self.data,
            disabled: self.disabled.flatten(),
        };
        Ok((tenant, change))
    }

    /// Builds the command that changes the given fields, or replaces all.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn command(
        self,
        rules: &Rules,
        path: Option<Id>,
        replaces: bool,
    ) -> Result<Command, Fault> {
        let (tenant, change) = self.read(rules, path, replaces)?;
        Ok(Command::Tenant { tenant, change: Box::new(change) })
    }
}

impl BrandBody {
    fn change(self) -> BrandChange {
        let url = self.url.map(|url| url.map(|url| url.trim_end_matches('/').to_owned()));
        BrandChange {
            name: self.name,
            logo: self.logo,
            logo_dark: self.logo_dark,
            color: self.color,
            footer: self.footer,
            postal_address: self.postal_address,
            url,
            address: self.address,
        }
    }
}

/// The change that removes all keys of a brand.
fn none_of_brand() -> BrandChange {
    BrandChange {
        name: Some(None),
        logo: Some(None),
        logo_dark: Some(None),
        color: Some(None),
        footer: Some(None),
        postal_address: Some(None),
        url: Some(None),
        address: Some(None),
    }
}

/// The defaults of a tenant.
fn defaults(rules: &Rules, list: Vec<Preference>) -> Result<Vec<Choice>, Fault> {
    let judged = |(number, preference): (u64, Preference)| {
        let choice = preference.choice(rules).and_then(|choice| {
            let fault = |what: &str, hint: &str| Fault::new(what, hint).about(About::Preference);
            if choice.scope.is_mute() {
                let hint = "name a type or a category: topics and objects are muted by recipients";
                return Err(fault("a tenant can't mute", hint));
            }
            if choice.tenant.is_some() {
                return Err(fault("a tenant's default can't have `tenant`", "leave it out"));
            }
            Ok(choice)
        });
        choice.map_err(|fault| {
            let fault = of_item(number, fault);
            Fault { reason: format!("`preferences`: {}", fault.reason), ..fault }
        })
    };
    (1..).zip(list).map(judged).collect()
}

/// A membership to add or to remove.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MemberChange, example = json!({"recipient": "ada"}))]
pub struct MemberBody {
    /// Id of the recipient.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    recipient: Text<Id>,
    /// True = remove the membership.
    remove: Option<bool>,
}

impl MemberBody {
    /// Builds the command that adds or removes it.
    #[must_use]
    pub fn command(self, tenant: Id) -> Command {
        let recipient = self.recipient.0;
        match self.remove {
            Some(true) => Command::Leave { recipient, tenant },
            _ => Command::Join { recipient, tenant },
        }
    }
}

/// A membership in a timeline.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MembershipBody {
    tenant: Text<Id>,
    recipient: Text<Id>,
}

impl MembershipBody {
    /// Builds the command that adds it.
    #[must_use]
    pub fn joins(self) -> Command {
        Command::Join { recipient: self.recipient.0, tenant: self.tenant.0 }
    }

    /// Builds the command that removes it.
    #[must_use]
    pub fn leaves(self) -> Command {
        Command::Leave { recipient: self.recipient.0, tenant: self.tenant.0 }
    }
}

/// The tenant of a body; null = none.
pub fn named(tenant: Option<Text<Id>>) -> Option<Id> {
    tenant.map(Text::inner)
}

fn from_name<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    text::checked(value, |text| {
        let is_fine = !text.trim().is_empty()
            && text.len() <= text::TITLE_BYTES_MAX
            && !text.chars().any(char::is_control);
        let what = format!("a name of 1 to {} bytes", text::TITLE_BYTES_MAX);
        let fault = || Fault::new(format!("cannot be {}", quoted(text)), format!("write {what}"));
        is_fine.then_some(()).ok_or_else(fault)
    })
    .map(Some)
}

fn mailbox<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    let check = |text: &str| match mailbox_fault(text) {
        None => Ok(()),
        Some((reason, hint)) => Err(Fault::new(format!("is not a mailbox: {reason}"), hint)),
    };
    text::checked(value, check).map(Some)
}

/// Reads a key of a brand.
fn of_brand<'de, D: Deserializer<'de>>(key: &str, value: D) -> Result<Change<String>, D::Error> {
    let check = |text: &str| match brand_check(key, text) {
        None => Ok(()),
        Some(what) => {
            Err(Fault::new(format!("cannot be {}", quoted(text)), format!("write {what}")))
        }
    };
    text::checked(value, check).map(Some)
}

macro_rules! brand_keys {
    ($($reader:ident = $key:literal),*) => {
        $(fn $reader<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
            of_brand($key, value)
        })*
    };
}

brand_keys! {
    brand_name = "name",
    logo = "logo",
    logo_dark = "logo_dark",
    color = "color",
    footer = "footer",
    postal_address = "postal_address",
    url = "url"
}
