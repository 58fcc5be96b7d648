//! A block of a mail: items that belong together, as templates see them. It stands below what fills and arranges it.

use serde::{Serialize, Serializer};
use tidings_core::model::Pivot;

use crate::page::item::MailItem;
use crate::page::single::PersonPicture;

/// Items that belong together.
#[derive(Debug, Serialize)]
pub(crate) struct BlockView {
    /// The name of what they share; `None` if they stand for themselves.
    pub(crate) heading: Option<String>,
    /// The page to which the heading leads.
    pub(crate) url: Option<String>,
    /// The face beside the heading, where it names the actor of rows without pictures.
    pub(crate) face: Option<PersonPicture>,
    /// The role that they share.
    #[serde(skip)]
    pub(crate) pivot: Option<Pivot>,
    /// "5 new: comment", or "5 new: comment · A and B"; `None` if the heading or the section has it.
    pub(crate) tally: Option<String>,
    /// True if they stand for themselves after blocks with a heading, to which they don't belong.
    pub(crate) is_apart: bool,
    #[serde(serialize_with = "as_shown")]
    pub(crate) items: Vec<MailItem>,
    /// Indices of items by column, where they are shown as cards.
    pub(crate) columns: Vec<Vec<usize>>,
}

impl BlockView {
    /// The items from the newest or best on, for what shows no more than a few words.
    pub(super) fn newest_first(&self) -> Box<dyn Iterator<Item = &MailItem> + '_> {
        match self.pivot {
            Some(Pivot::Target) => Box::new(self.items.iter().rev()),
            _ => Box::new(self.items.iter()),
        }
    }
}

/// An item as the layout sees it.
#[derive(Serialize)]
#[serde(untagged)]
enum ShownItem<'a> {
    /// One that is rendered already, of which nothing else is asked.
    Rendered {
        /// Its blocks.
        rendered: ItemMarkup<'a>,
    },
    /// Any other.
    Item(&'a MailItem),
}

/// The bodies of an item, of which the HTML is escaped already.
#[derive(Serialize)]
struct ItemMarkup<'a> {
    text: &'a str,
    html: minijinja::Value,
}

fn as_shown<S: Serializer>(items: &[MailItem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().map(|item| match &item.rendered {
        Some(rendered) => ShownItem::Rendered {
            rendered: ItemMarkup {
                text: &rendered.text,
                html: minijinja::Value::from_safe_string(rendered.html.clone()),
            },
        },
        None => ShownItem::Item(item),
    }))
}
