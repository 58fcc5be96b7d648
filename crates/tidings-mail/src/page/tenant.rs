//! The look of a tenant's messages and pages: its brand, the name of its sender, its mailbox for answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tidings_core::presentation::{Address, Brand};
use tidings_core::tenant::Tenant;
use tidings_core::{Batch, Id};

use crate::Sender;
use crate::page::brand::BrandView;
use crate::page::design::{Design, Links};
use crate::words::books::Books;
use crate::words::locale::Language;
use crate::words::text;

/// The most tenants whose looks are kept: one is made anew in less time than a mail.
const LOOKS_MAX: usize = 256;

/// The looks of tenants that were asked for a moment ago. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks(Arc<Mutex<BTreeMap<Id, Look>>>);

#[derive(Debug)]
struct Look {
    of: Face,
    design: Arc<Design>,
}

/// The fields of a tenant on which its look depends.
#[derive(Debug)]
struct Face {
    name: Option<String>,
    brand: Brand,
    from_name: Option<String>,
    reply_to: Option<String>,
}

impl Face {
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

impl Looks {
    fn get(&self, id: &Id, tenant: &Tenant) -> Option<Arc<Design>> {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let look = looks.get(id).filter(|look| look.of.is_of(tenant))?;
        Some(Arc::clone(&look.design))
    }

    fn put(&self, id: &Id, tenant: &Tenant, design: &Arc<Design>) {
        let look = Look { of: Face::of(tenant), design: Arc::clone(design) };
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.len() >= LOOKS_MAX && !looks.contains_key(id) {
            looks.clear();
        }
        looks.insert(id.clone(), look);
    }
}

/// The language of the default locale, by the way in which its words speak to people.
#[derive(Debug)]
pub(crate) struct Usual {
    /// The host's books.
    words: BTreeMap<String, String>,
    locale: String,
    familiar: OnceLock<Language>,
    formal: OnceLock<Language>,
}

impl Usual {
    pub(crate) fn new(words: BTreeMap<String, String>, locale: String) -> Self {
        Self { words, locale, familiar: OnceLock::new(), formal: OnceLock::new() }
    }

    fn addressing(&self, address: Address) -> Language {
        let known = match address {
            Address::Familiar => &self.familiar,
            Address::Formal => &self.formal,
        };
        let read = || Language::among(&Books::with(&self.words, Some(address)), &self.locale);
        known.get_or_init(read).clone()
    }
}

impl Design {
    /// The design of a tenant's messages and pages: the fields of its brand laid over the configuration's one by one, the
    /// name of its sender, and its mailbox for answers.
    #[must_use]
    pub fn of_tenant(&self, id: &Id, tenant: &Tenant) -> Arc<Self> {
        if let Some(known) = self.looks.get(id, tenant) {
            return known;
        }
        let design = Arc::new(self.worn_by(tenant));
        self.looks.put(id, tenant, &design);
        design
    }

    /// The design of a batch's tenant; `None` where it has none.
    pub(crate) fn of_batch(&self, batch: &Batch) -> Option<Arc<Self>> {
        let known = batch.tenant.as_deref()?;
        Some(self.of_tenant(&known.id, &known.tenant))
    }

    fn worn_by(&self, tenant: &Tenant) -> Self {
        let own_brand = laid_over(&self.own_brand, &tenant.brand);
        let from_name = tenant.from_name.as_deref();
        let sender = from_name.map_or_else(|| self.sender.clone(), |name| self.sender.named(name));
        let brand = BrandView::of(&own_brand, &sender);
        let name = tenant.name.as_deref().map(text::clean).filter(|name| !name.is_empty());
        let reply_to = tenant.reply_to.as_deref().and_then(|to| Sender::parse(to).ok());
        let mut design = self.clone();
        if let Some(address) = tenant.brand.address {
            design.usual = self.usual_to.addressing(address);
        }
        design.links = self.tags.as_ref().and_then(|key| Links::of(&brand, key));
        design.brand = Arc::new(brand);
        design.own_brand = Arc::new(own_brand);
        design.sender = sender;
        design.tenant = name;
        design.reply_to = reply_to.or(design.reply_to);
        design.looks = Looks::default();
        design
    }
}

/// A brand with the fields of another in the place of its own.
fn laid_over(under: &Brand, over: &Brand) -> Brand {
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
