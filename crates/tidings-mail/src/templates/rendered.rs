//! Items that were rendered a moment ago.
//!
//! One event is in thousands of mails, mostly with the same words: its item is rendered once for all of them. The cache
//! is derived and bounded: losing it costs time.

use std::fmt;
use std::sync::Arc;

use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use serde::Serialize;

use crate::page::brand::BrandView;
use crate::page::item::MailItem;
use crate::templates::template::{Bodies, Templates};

/// Maximum number of bytes of the cache.
const BYTES_MAX: u64 = 16 << 20;
/// The number of items for which the cache has room before it grows.
const ITEMS_EXPECTED: usize = 1_024;

/// Rendered items, by what they show in which brand. Clones share them.
#[derive(Clone)]
pub(crate) struct Rendered(Arc<Cache<BrandedItem, Arc<Bodies>, BodyBytes>>);

/// An item in the brand of a host or a tenant.
#[derive(Clone, PartialEq, Eq, Hash)]
struct BrandedItem {
    item: MailItem,
    brand: Arc<BrandView>,
}

/// The borrowed form, for lookups.
#[derive(Hash)]
struct BorrowedKey<'a> {
    item: &'a MailItem,
    brand: &'a Arc<BrandView>,
}

impl Equivalent<BrandedItem> for BorrowedKey<'_> {
    fn equivalent(&self, known: &BrandedItem) -> bool {
        *self.item == known.item && *self.brand == known.brand
    }
}

#[derive(Clone)]
struct BodyBytes;

impl Weighter<BrandedItem, Arc<Bodies>> for BodyBytes {
    fn weight(&self, _item: &BrandedItem, bodies: &Arc<Bodies>) -> u64 {
        // The item's own texts are about as long as its text body.
        (bodies.html.len() + 2 * bodies.text.len()) as u64
    }
}

impl Default for Rendered {
    fn default() -> Self {
        let cache = Cache::with_weighter(ITEMS_EXPECTED, BYTES_MAX, BodyBytes);
        Self(Arc::new(cache))
    }
}

impl fmt::Debug for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendered").finish_non_exhaustive()
    }
}

/// The variables of the templates of an item that stands among others.
#[derive(Serialize)]
struct GroupedItemVariables<'a> {
    item: &'a MailItem,
    brand: &'a BrandView,
    alone: bool,
}

impl Rendered {
    /// An item's block in both bodies, rendered now or before; `None` if a template fails.
    pub(crate) fn of(
        &self,
        item: &MailItem,
        templates: &Templates,
        brand: &Arc<BrandView>,
    ) -> Option<Arc<Bodies>> {
        if let Some(known) = self.0.get(&BorrowedKey { item, brand }) {
            return Some(known);
        }
        let key = GroupedItemVariables { item, brand, alone: false };
        let bodies = Arc::new(templates.blocks(&item.block, &key)?);
        let key = BrandedItem { item: item.clone(), brand: Arc::clone(brand) };
        self.0.insert(key, Arc::clone(&bodies));
        Some(bodies)
    }
}
