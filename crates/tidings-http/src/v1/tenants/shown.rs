//! Tenants in answers.

use serde::Serialize;
use tidings_api::body::preference::Preference;
use tidings_api::body::quiet;
use tidings_core::Id;
use tidings_core::engine::Positioned;
use tidings_core::model::{Data, Tenant};
use tidings_core::rules::{Brand, FormOfAddress};
use utoipa::ToSchema;

use crate::request::list::PageBody;

/// A tenant.
#[derive(Serialize, ToSchema)]
#[schema(as = Tenant, example = json!({"id": "acme", "name": "Acme", "brand": {"color": "#0b57a4"}, "from_name": null, "reply_to": null, "locale": "de", "tz": null, "quiet_hours": "default", "preferences": [], "data": null, "disabled": false}))]
pub(crate) struct TenantShown {
    /// Id of the tenant.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    id: Id,
    /// Name to show.
    name: Option<String>,
    /// Keys that override `[brand]`.
    brand: BrandShown,
    /// Sender name of its messages.
    from_name: Option<String>,
    /// Mailbox for replies to its mails.
    reply_to: Option<String>,
    /// BCP 47 locale, for recipients without one; null = the configuration's default.
    locale: Option<String>,
    /// IANA time zone, for recipients without one; null = the configuration's default.
    tz: Option<String>,
    /// Quiet hours, for recipients without their own: null = none, `default` = those of each channel.
    quiet_hours: Option<quiet::QuietHoursShown>,
    /// Its defaults, which replace the types' policies.
    preferences: Vec<Preference>,
    /// Data of the host.
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    data: Option<Data>,
    /// True = publishing is refused, and nothing is sent.
    disabled: bool,
}

/// Keys that override `[brand]`.
#[derive(Serialize, ToSchema)]
#[schema(as = TenantBrand, example = json!({"color": "#0b57a4"}))]
struct BrandShown {
    /// Name at the head of mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    /// Picture shown instead of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    logo: Option<String>,
    /// Picture for dark mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    logo_dark: Option<String>,
    /// Colour of links and buttons.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    color: Option<String>,
    /// Text at the foot of mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    footer: Option<String>,
    /// Postal address at the foot of mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    postal_address: Option<String>,
    /// Public address at the start of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    url: Option<String>,
    /// `familiar` or `formal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    address: Option<&'static str>,
}

/// A page of tenants.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"tenants": [], "next": null}))]
pub(super) struct TenantsPage {
    /// The tenants, sorted by the bytes of their ids.
    tenants: Vec<TenantShown>,
    /// The next page's cursor; null = this is the last.
    #[schema(required)]
    next: Option<String>,
}

impl TenantShown {
    /// A tenant with its id.
    pub(crate) fn of(id: &Id, tenant: &Tenant) -> Self {
        let preferences = tenant.preferences.iter().cloned().map(Preference::of);
        Self {
            id: id.clone(),
            name: tenant.name.clone(),
            brand: BrandShown::from(tenant.brand.clone()),
            from_name: tenant.from_name.clone(),
            reply_to: tenant.reply_to.clone(),
            locale: tenant.locale.clone(),
            tz: tenant.tz.clone(),
            quiet_hours: quiet::QuietHoursShown::of(tenant.quiet_hours.as_deref()),
            preferences: preferences.collect(),
            data: tenant.data.clone(),
            disabled: tenant.disabled,
        }
    }
}

impl From<Brand> for BrandShown {
    fn from(brand: Brand) -> Self {
        Self {
            name: brand.name,
            logo: brand.logo,
            logo_dark: brand.logo_dark,
            color: brand.color,
            footer: brand.footer,
            postal_address: brand.postal_address,
            url: brand.url,
            address: brand.address.map(FormOfAddress::word),
        }
    }
}

impl Positioned for TenantShown {
    type Position = Id;

    fn position(&self) -> Id {
        self.id.clone()
    }
}

impl PageBody for TenantsPage {
    type Row = TenantShown;

    fn into_parts(self) -> (Vec<TenantShown>, Option<String>) {
        (self.tenants, self.next)
    }

    fn of(tenants: Vec<TenantShown>, next: Option<String>, _missing: Option<Vec<String>>) -> Self {
        Self { tenants, next }
    }
}
