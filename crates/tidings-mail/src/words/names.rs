//! Names of objects, actors, targets and topics in a mail: their titles, never their ids.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidings_core::Object;

use crate::words::Words;
use crate::words::text;

/// Maximum length of a name that is not cut, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 80;

/// The name of an actor, a target or a topic; `None` if it has no title that can be shown.
pub(crate) fn name_of(object: &Object, words: &Words) -> Option<String> {
    let name = cut_name(object.title.as_ref()?.first(), words);
    (!name.is_empty()).then_some(name)
}

/// A title as a name.
pub(crate) fn cut_name(title: &str, words: &Words) -> String {
    words.isolated(text::cut(&text::clean(title), NAME_CHARS_MAX))
}

/// "A, B and 3 others" with names of this many characters at most; those without a name are among the others; `None` if
/// none has one.
pub(crate) fn named_shortly(
    objects: &[Arc<Object>],
    words: &Words,
    name_chars: usize,
) -> Option<String> {
    let name = |object: &Arc<Object>| Some(text::cut(&name_of(object, words)?, name_chars));
    let names: Vec<String> = objects.iter().filter_map(name).collect();
    (!names.is_empty()).then(|| words.listed_people(&names, objects.len() - names.len()))
}

/// The names of topics, by their ids.
pub(crate) struct Topics(BTreeMap<String, String>);

impl Topics {
    pub(crate) fn of(topics: &[Arc<Object>], words: &Words) -> Self {
        let named = topics
            .iter()
            .filter_map(|topic| Some((topic.id.as_str().to_owned(), name_of(topic, words)?)));
        Self(named.collect())
    }

    pub(crate) fn name(&self, topic: &str) -> Option<&str> {
        self.0.get(topic).map(String::as_str)
    }
}
