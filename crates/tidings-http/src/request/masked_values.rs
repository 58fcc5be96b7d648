//! Messages with masked values, for viewers of the console and assistants: built as any other, of a masked batch.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;
use tidings_console::ValueMask;
use tidings_core::Rules;
use tidings_core::content::Batch;
use tidings_core::model::{Data, EMAIL_NO, HostText, Object};

/// The header with which a node asks another one for masked values. It counts beside the token of the node alone.
pub(crate) const MASKS: HeaderName = HeaderName::from_static("tidings-masks-values");

/// Stands for the address of a recipient.
const MASKED_ADDRESS: &str = "masked@example.org";

/// Marks a call that builds a message with masked values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MasksValues;

/// Says whether a call builds its message with masked values.
pub(crate) struct IsMasked(pub(crate) bool);

impl<S: Sync> FromRequestParts<S> for IsMasked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<MasksValues>().is_some()))
    }
}

/// The fields of `data` that are not masked.
pub(crate) fn shown_data(rules: &Rules) -> Vec<String> {
    rules.console.as_ref().map(|console| console.show.clone()).unwrap_or_default()
}

/// The mask of a configuration.
pub(crate) struct BatchMask {
    values: ValueMask,
}

impl BatchMask {
    pub(crate) fn of(rules: &Rules) -> Self {
        Self { values: ValueMask::new(shown_data(rules)) }
    }

    /// The same message with masked values.
    pub(crate) fn masked(&self, mut batch: Batch) -> Batch {
        let recipient = &mut batch.recipient;
        recipient.name = recipient.name.as_deref().map(|name| self.values.name(name));
        // A mail is built to some address, and content may be made of what a recipient has.
        recipient.addresses = [(EMAIL_NO, MASKED_ADDRESS)].into();
        recipient.place = None;
        recipient.data = recipient.data.take().map(|data| self.data(&data));
        batch.meant_for = None;
        batch.traces = Vec::new();
        self.objects(&mut batch.topics);
        for group in &mut batch.groups {
            self.objects(&mut group.key);
            self.objects(&mut group.actors);
            for line in &mut group.lines {
                self.object(&mut line.object);
                self.objects(&mut line.actors);
                self.objects(&mut line.target);
                line.data = line.data.take().map(|data| Arc::new(self.values.data(&data)));
                let text = |text: &str| self.values.text(text);
                line.body = line.body.take().map(|body| mapped(&body, text));
            }
        }
        batch
    }

    fn objects<'o>(&self, objects: impl IntoIterator<Item = &'o mut Arc<Object>>) {
        objects.into_iter().for_each(|object| self.object(object));
    }

    fn object(&self, object: &mut Arc<Object>) {
        let object = Arc::make_mut(object);
        let name = |title: &str| self.values.name(title);
        object.title = object.title.take().map(|title| mapped(&title, name));
        // An address of a page may have a name in it.
        (object.url, object.image, object.image_size) = (None, None, None);
        object.data = object.data.take().map(|data| self.data(&data));
    }

    fn data(&self, data: &Data) -> Data {
        self.values.data(data.fields()).into()
    }
}

/// A text with each of its languages mapped.
fn mapped(text: &HostText, map: impl Fn(&str) -> String) -> HostText {
    let locales = text.locales().iter();
    let locales = locales.map(|(locale, text)| (locale.clone(), map(text))).collect();
    HostText::by_locale(locales).unwrap_or_else(|| map(text.first()).into())
}
