//! The look and the words of messages, on which no decision depends.
//!
//! The engine passes it on with the other rules and never reads it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::event::Pivot;

/// The look and the words of messages, and bounds on what they show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presentation {
    /// The sender as recipients know them.
    pub brand: Brand,
    /// The words of types.
    pub types: BTreeMap<String, Wording>,
    /// The mailbox to which answers to mails of a category go, where their types name none.
    pub category_reply_to: BTreeMap<String, String>,
    /// The mailbox to which answers to all other mails go; that of the sender where `None`.
    pub reply_to: Option<String>,
    /// The bounds on what messages of a digest show.
    pub digests: BTreeMap<String, Quota>,
    /// Templates of the host's own, by their names, such as `email/layout.html`.
    pub templates: BTreeMap<String, String>,
    /// The order in which the configuration has what people choose from.
    #[serde(default)]
    pub order: ChoiceOrder,
    /// The host's books of words by canonical locale, as TOML text.
    #[serde(default)]
    pub words: BTreeMap<String, String>,
    /// The titles of digests.
    #[serde(default)]
    pub digest_titles: BTreeMap<String, Texts>,
}

/// The names of what people choose from, in the order of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceOrder {
    /// The categories.
    pub categories: Vec<String>,
    /// The types.
    pub types: Vec<String>,
}

impl ChoiceOrder {
    /// Names in an order; those that it lacks come last, sorted.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::rules::ChoiceOrder;
    ///
    /// let order = ["works".to_owned(), "account".to_owned(), "gone".to_owned()];
    /// assert_eq!(ChoiceOrder::put(&order, ["account", "new", "works"]), ["works", "account", "new"]);
    /// ```
    pub fn put<'n>(order: &[String], names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
        let mut names: Vec<&str> = names.into_iter().collect();
        let place = |name: &str| order.iter().position(|known| known == name);
        names.sort_by_cached_key(|name| (place(name).unwrap_or(usize::MAX), *name));
        names
    }
}

/// The sender as recipients know them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brand {
    /// The name; that of the sender's address where `None`.
    pub name: Option<String>,
    /// Address of a picture.
    pub logo: Option<String>,
    /// Address of the picture that is shown on a dark ground.
    pub logo_dark: Option<String>,
    /// The colour of links and buttons, `#rrggbb`.
    pub color: Option<String>,
    /// A text at the foot of messages.
    pub footer: Option<String>,
    /// The postal address, which many countries require.
    pub postal_address: Option<String>,
    /// The public address, with which links begin; it has no slash at its end.
    pub url: Option<String>,
    /// The way in which words of the product's own speak to people; that which is usual in their language where `None`.
    #[serde(default)]
    pub address: Option<FormOfAddress>,
}

/// The way in which a text speaks to people, in languages that have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormOfAddress {
    /// As friends do.
    Familiar,
    /// As strangers do.
    Formal,
}

impl FormOfAddress {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Familiar, Self::Formal];

    /// Its word in configurations and in books of words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Familiar => "familiar",
            Self::Formal => "formal",
        }
    }
}

/// The words of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// A heading.
    pub title: Texts,
    /// The event in words.
    pub sentence: Texts,
    /// The subject of messages about this type alone.
    pub subject: Texts,
    /// The text that a person wrote, for events without a `body` of their own.
    pub body: Texts,
    /// The label of the button of a mail with one event.
    pub action: Texts,
    /// A text under a mail with one event, such as "Not you? https://…".
    pub notice: Texts,
    /// The mailbox to which answers go.
    pub reply_to: Option<String>,
}

/// A text in several languages, by locale in the form in which it is looked up. The one under the empty locale is for
/// all languages where it is alone, else of the default locale.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts(pub BTreeMap<String, String>);

/// The bounds on what a message shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// Maximum number of lines.
    pub show: usize,
    /// Maximum number of lines with the same actor, object, target or type.
    pub show_per: Vec<(Share, usize)>,
}

/// A thing that lines may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Share {
    /// A role.
    Role(Pivot),
    /// The type.
    Type,
}

impl Quota {
    /// Default number of lines that a message shows.
    pub const SHOW: usize = 20;
}

impl Default for Quota {
    fn default() -> Self {
        Self { show: Self::SHOW, show_per: Vec::new() }
    }
}
