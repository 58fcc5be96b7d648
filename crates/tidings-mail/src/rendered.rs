//! Items that were rendered a moment ago.
//!
//! One event is told in thousands of mails, and in most of them with the same words: its item is rendered once for
//! all of them. A cache is derived and bounded: losing it costs time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::brand::BrandView;
use crate::item::Item;
use crate::template::{Bodies, Templates};

/// The number of bytes at which the cache begins anew.
const BYTES_KEPT: usize = 16 << 20;

/// Rendered items, by what they show. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rendered(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    items: HashMap<Item, Arc<Bodies>>,
    bytes: usize,
}

/// The variables of the templates of an item that stands among others.
#[derive(Serialize)]
struct Among<'a> {
    item: &'a Item,
    brand: &'a BrandView,
    alone: bool,
}

impl Rendered {
    /// An item's block in both bodies, rendered now or before; `None` if a template fails.
    pub(crate) fn of(
        &self,
        item: &Item,
        templates: &Templates,
        brand: &BrandView,
    ) -> Option<Arc<Bodies>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().items.get(item) {
            return Some(Arc::clone(known));
        }
        let among = Among {
            item,
            brand,
            alone: false,
        };
        let bodies = Arc::new(templates.blocks(&item.block, &among)?);
        let mut kept = lock();
        if kept.bytes >= BYTES_KEPT {
            kept.items.clear();
            kept.bytes = 0;
        }
        // The item's own texts are about as long as its text body.
        kept.bytes += bodies.html.len() + 2 * bodies.text.len();
        kept.items.insert(item.clone(), Arc::clone(&bodies));
        Some(bodies)
    }
}
