//! Designs of tenants: brand, sender name and reply address.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tidings_core::Id;
use tidings_core::content::Batch;
use tidings_core::model::Tenant;
use tidings_core::rules::{Brand, FormOfAddress};

use crate::Sender;
use crate::page::brand::BrandView;
use crate::page::design::{Design, PageLinks};
use crate::words::books::Books;
use crate::words::locale::Language;
use crate::words::text;

/// Maximum number of cached designs: building one takes less time than a mail.
const DESIGNS_MAX: usize = 256;

/// A cache of tenants' designs. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TenantDesigns(Arc<Mutex<BTreeMap<Id, CachedDesign>>>);

#[derive(Debug)]
struct CachedDesign {
    of: DesignFields,
    design: Arc<Design>,
}

/// The fields of a tenant that determine its design.
#[derive(Debug)]
struct DesignFields {
    name: Option<String>,
    brand: Brand,
    from_name: Option<String>,
    reply_to: Option<String>,
}

impl DesignFields {
    fn of(tenant: &Tenant) -> Self {
        let Tenant { name, brand, from_name, reply_to, .. } = tenant.clone();
        Self { name, brand, from_name, reply_to }
    }

    fn is_of(&self, tenant: &Tenant) -> bool {
        self.name == tenant.name
            && self.brand == tenant.brand
            && self.from_name == tenant.from_name
            && self.reply_to == tenant.reply_to
    }
}

impl TenantDesigns {
    fn get(&self, id: &Id, tenant: &Tenant) -> Option<Arc<Design>> {
        let designs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = designs.get(id).filter(|cached| cached.of.is_of(tenant))?;
        Some(Arc::clone(&cached.design))
    }

    fn put(&self, id: &Id, tenant: &Tenant, design: &Arc<Design>) {
        let cached = CachedDesign { of: DesignFields::of(tenant), design: Arc::clone(design) };
        let mut designs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if designs.len() >= DESIGNS_MAX && !designs.contains_key(id) {
            designs.clear();
        }
        designs.insert(id.clone(), cached);
    }
}

/// The language of the default locale, for each form of address.
#[derive(Debug)]
pub(crate) struct DefaultLanguages {
    /// The host's books of words.
    words: BTreeMap<String, String>,
    locale: String,
    familiar: OnceLock<Language>,
    formal: OnceLock<Language>,
}

impl DefaultLanguages {
    pub(crate) fn new(words: BTreeMap<String, String>, locale: String) -> Self {
        Self { words, locale, familiar: OnceLock::new(), formal: OnceLock::new() }
    }

    fn with_address(&self, address: FormOfAddress) -> Language {
        let known = match address {
            FormOfAddress::Familiar => &self.familiar,
            FormOfAddress::Formal => &self.formal,
        };
        let read = || Language::with_books(&Books::with(&self.words, Some(address)), &self.locale);
        known.get_or_init(read).clone()
    }
}

impl Design {
    /// The design of a tenant's messages and pages: keys of its brand override the configuration's, `from_name` and
    /// `reply_to` are the tenant's.
    #[must_use]
    pub fn of_tenant(&self, id: &Id, tenant: &Tenant) -> Arc<Self> {
        if let Some(known) = self.tenant_designs.get(id, tenant) {
            return known;
        }
        let design = Arc::new(self.build_for_tenant(tenant));
        self.tenant_designs.put(id, tenant, &design);
        design
    }

    /// The design of a batch's tenant; `None` = it has no tenant.
    pub(crate) fn of_batch(&self, batch: &Batch) -> Option<Arc<Self>> {
        let known = batch.tenant.as_deref()?;
        Some(self.of_tenant(&known.id, &known.tenant))
    }

    fn build_for_tenant(&self, tenant: &Tenant) -> Self {
        let own_brand = merged_brand(&self.own_brand, &tenant.brand);
        let from_name = tenant.from_name.as_deref();
        let sender = from_name.map_or_else(|| self.sender.clone(), |name| self.sender.named(name));
        let brand = BrandView::of(&own_brand, &sender);
        let name = tenant.name.as_deref().map(text::clean).filter(|name| !name.is_empty());
        let reply_to = tenant.reply_to.as_deref().and_then(|to| Sender::parse(to).ok());
        let mut design = self.clone();
        if let Some(address) = tenant.brand.address {
            design.usual = self.default_languages.with_address(address);
        }
        design.links = self.tags.as_ref().and_then(|key| PageLinks::of(&brand, key));
        design.brand = Arc::new(brand);
        design.own_brand = Arc::new(own_brand);
        design.sender = sender;
        design.tenant = name;
        design.reply_to = reply_to.or(design.reply_to);
        design.tenant_designs = TenantDesigns::default();
        design
    }
}

/// Overrides the fields of a brand by those of another.
fn merged_brand(under: &Brand, over: &Brand) -> Brand {
    let first = |over: &Option<String>, under: &Option<String>| over.clone().or(under.clone());
    Brand {
        name: first(&over.name, &under.name),
        logo: first(&over.logo, &under.logo),
        logo_dark: first(&over.logo_dark, &under.logo_dark),
        color: first(&over.color, &under.color),
        footer: first(&over.footer, &under.footer),
        postal_address: first(&over.postal_address, &under.postal_address),
        url: first(&over.url, &under.url),
        address: over.address.or(under.address),
    }
}
