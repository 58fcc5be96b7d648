//! Lookup of titles and bodies by locale in the language of a message. If that language has none, the text of the
//! reader's next locale or of the default one is used, else the first one given.

use std::borrow::Cow;
use std::sync::Arc;

use tidings_core::Object;
use tidings_core::content::{Batch, Group, Line};
use tidings_core::model::HostText;

use crate::words::locale::Language;
use crate::words::tag::canonical_locale;

/// Language tags by which texts are looked up, in order of preference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags(Vec<String>);

impl Tags {
    /// The tags of some languages and of their readers' further locales, followed by those of the default language.
    pub(crate) fn of<'l>(
        languages: impl IntoIterator<Item = &'l Language>,
        usual: &'l Language,
    ) -> Self {
        let languages = languages.into_iter().chain([usual]);
        let tags = languages.flat_map(|language| language.tags.iter().chain(&language.further));
        Self(tags.cloned().collect())
    }

    /// Selects a text.
    pub(crate) fn find<'t>(&self, text: &'t HostText) -> &'t str {
        let of = |tag: &String| {
            let mut texts = text.locales().iter();
            texts.find(|(locale, _)| canonical_locale(locale) == *tag)
        };
        match text.locales() {
            [] => text.first(),
            _ => self.0.iter().find_map(of).map_or(text.first(), |(_, text)| text),
        }
    }

    fn one(&self, text: &HostText) -> HostText {
        if text.one().is_some() { text.clone() } else { self.find(text).into() }
    }

    fn object(&self, object: &Arc<Object>) -> Arc<Object> {
        if !is_several(object.title.as_ref()) {
            return Arc::clone(object);
        }
        let title = object.title.as_ref().map(|title| self.one(title));
        Arc::new(Object { title, ..Object::clone(object) })
    }

    fn objects(&self, objects: &[Arc<Object>]) -> Vec<Arc<Object>> {
        objects.iter().map(|object| self.object(object)).collect()
    }

    fn line(&self, line: &Line) -> Line {
        Line {
            object: self.object(&line.object),
            actors: self.objects(&line.actors),
            target: line.target.as_ref().map(|target| self.object(target)),
            body: line.body.as_ref().map(|body| self.one(body)),
            ..line.clone()
        }
    }

    /// Resolves all texts of groups.
    pub(crate) fn groups<'g>(&self, groups: &'g [Group]) -> Cow<'g, [Group]> {
        if !groups.iter().any(has_several) {
            return Cow::Borrowed(groups);
        }
        let translated = |group: &Group| Group {
            key: group.key.as_ref().map(|key| self.object(key)),
            actors: self.objects(&group.actors),
            lines: group.lines.iter().map(|line| self.line(line)).collect(),
            ..group.clone()
        };
        groups.iter().map(translated).collect()
    }

    /// Resolves all texts of a batch.
    pub(crate) fn batch<'b>(&self, batch: &'b Batch) -> Cow<'b, Batch> {
        let has_topics = batch.topics.iter().any(|topic| is_several(topic.title.as_ref()));
        match self.groups(&batch.groups) {
            Cow::Borrowed(_) if !has_topics => Cow::Borrowed(batch),
            groups => Cow::Owned(Batch {
                topics: self.objects(&batch.topics),
                groups: groups.into_owned(),
                ..batch.clone()
            }),
        }
    }
}

fn is_several(text: Option<&HostText>) -> bool {
    text.is_some_and(|text| text.one().is_none())
}

fn has_several(group: &Group) -> bool {
    let of = |object: &Arc<Object>| is_several(object.title.as_ref());
    let of_line = |line: &Line| {
        of(&line.object)
            || is_several(line.body.as_ref())
            || line.actors.iter().any(of)
            || line.target.as_ref().is_some_and(of)
    };
    group.key.as_ref().is_some_and(of)
        || group.actors.iter().any(of)
        || group.lines.iter().any(of_line)
}
