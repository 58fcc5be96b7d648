//! Sample messages for previews and for checks of templates.

use std::sync::Arc;

use serde_json::{Map, Value};
use tidings_core::content::{Batch, Entry, group};
use tidings_core::index::Header;
use tidings_core::model::{
    BatchKey, EMAIL, EMAIL_NO, EventNo, ImageSize, MessageId, RecipientState, Score,
};
use tidings_core::rules::{Policy, TypeRules, Wording};
use tidings_core::{Id, Instant, Object, Recipient, Rules};

use crate::Sentence;

/// The instant of every sample: Monday, 4 March 2024, 09:00 UTC.
const AT: Instant = Instant(1_709_542_800_000);

const NAMES: [&str; 5] = ["Ana Ruiz", "Ben Ito", "Cleo Marsh", "Dov Adler", "Eve Lund"];
const TITLES: [&str; 4] = [
    "The first example",
    "Another one, with a title that needs a second line on a phone",
    "Example & more",
    "The last of these",
];
/// The addresses of the pictures of samples begin so: a number and `.jpg` follow. They lead nowhere.
pub const SAMPLE_PICTURES: &str = "https://example.org/";

/// The width and height of the picture of a sample with a number.
#[must_use]
pub fn sample_size(number: usize) -> (u16, u16) {
    SIZES[number % SIZES.len()]
}

const SIZES: [(u16, u16); 3] = [(800, 600), (600, 800), (640, 640)];

/// A message of made-up items of a type, the same each time.
///
/// # Examples
/// ```
/// use tidings_core::{Id, Rules};
///
/// let batch = tidings_mail::sample(&Id::new("comment")?, &Rules::default(), "de", 3);
/// assert_eq!((batch.entries, batch.locale.as_str()), (3, "de"));
/// # Ok::<(), tidings_core::model::IdError>(())
/// ```
#[must_use]
pub fn sample(event_type: &Id, rules: &Rules, locale: &str, items: usize) -> Batch {
    detailed(event_type, rules, locale, items, &data_of(event_type, rules))
}

/// A sample message of a digest, with items of each of its types; without items if no type has the digest by e-mail. It is
/// the same each time.
#[must_use]
pub fn digest_sample(digest: &str, rules: &Rules, locale: &str, items: usize) -> Batch {
    let comes_with_it = |kind: &TypeRules| {
        let route = kind.channels.get(EMAIL);
        route.is_some_and(
            |route| matches!(&route.policy, Policy::Digest { digest: name } if name == digest),
        )
    };
    let of_digest = rules.types.iter().filter(|(_, kind)| comes_with_it(kind));
    let types: Vec<Id> = of_digest.filter_map(|(name, _)| Id::new(name).ok()).collect();
    let all = types.iter().flat_map(|event_type| (0..items).map(move |_| event_type));
    let entries: Vec<Entry> = all
        .enumerate()
        .map(|(n, event_type)| sample_entry(event_type, n, &data_of(event_type, rules)))
        .collect();
    Batch {
        lane: format!("digest:{digest}"),
        entries: entries.len(),
        groups: group(entries.iter().collect(), rules),
        ..detailed(&id("none"), rules, locale, 0, &Map::new())
    }
}

/// Sample data for all places of a type's sentences.
fn data_of(event_type: &Id, rules: &Rules) -> Map<String, Value> {
    let mut data = Map::new();
    let wording = rules.presentation.types.get(event_type.as_str());
    for (path, value) in wording.iter().flat_map(|wording| data_in(wording, &rules.defaults.locale))
    {
        put(&mut data, &path, &value);
    }
    data
}

/// The paths in `data` of a type's sentences, with sample values.
fn data_in(wording: &Wording, usual_locale: &str) -> Vec<(String, Value)> {
    let texts = [&wording.sentence, &wording.subject, &wording.body, &wording.notice];
    let sentences = texts.iter().flat_map(|texts| texts.0.iter()).filter_map(|(locale, text)| {
        let locale = if locale.is_empty() { usual_locale } else { locale };
        Sentence::parse(text, locale).ok()
    });
    sentences.flat_map(|sentence| sentence.samples()).collect()
}

/// Puts a value at a dotted path.
pub(crate) fn put(data: &mut Map<String, Value>, path: &str, value: &Value) {
    match path.split_once('.') {
        None => {
            data.entry(path).or_insert_with(|| value.clone());
        }
        Some((first, rest)) => {
            let inner = data.entry(first).or_insert_with(|| Value::from(Map::new()));
            if !inner.is_object() {
                *inner = Value::from(Map::new());
            }
            if let Some(inner) = inner.as_object_mut() {
                put(inner, rest, value);
            }
        }
    }
}

/// The same with this `data` of the events.
pub(crate) fn detailed(
    event_type: &Id,
    rules: &Rules,
    locale: &str,
    items: usize,
    data: &Map<String, Value>,
) -> Batch {
    let entries: Vec<Entry> = (0..items).map(|n| sample_entry(event_type, n, data)).collect();
    Batch {
        tenant: None,
        id: "preview".to_owned(),
        message: MessageId::default(),
        recipient: Recipient {
            id: id("somebody"),
            name: Some("Somebody".to_owned()),
            addresses: [(EMAIL_NO, "somebody@example.org")].into(),
            tz: None,
            locale: None,
            place: None,
            state: RecipientState::Active,
            data: None,
            quiet_hours: None,
        },
        meant_for: None,
        tz: rules.defaults.tz.clone(),
        locale: locale.to_owned(),
        channel: EMAIL.to_owned(),
        lane: "now".to_owned(),
        key: BatchKey::default(),
        at: AT,
        entries: items,
        groups: group(entries.iter().collect(), rules),
        topics: vec![Arc::new(titled("a-topic", "A topic"))],
        traces: Vec::new(),
        badge: None,
    }
}

fn sample_entry(event_type: &Id, n: usize, data: &Map<String, Value>) -> Entry {
    let object_id = format!("example/{n}");
    let name = NAMES[n % NAMES.len()];
    let (width, height) = sample_size(n);
    let object = Object {
        url: Some(format!("https://example.org/{n}")),
        image: Some(format!("{SAMPLE_PICTURES}{n}.jpg")),
        image_size: Some(ImageSize { width, height }),
        ..titled(&object_id, TITLES[n % TITLES.len()])
    };
    let actor = Some(Arc::new(titled(name, name)));
    let target = Some(Arc::new(titled("a-place", "A place")));
    let header = Header {
        place: EventNo(n as u64),
        id: id(&format!("event-{n}")),
        event_type: event_type.clone(),
        actor: actor.as_ref().map(|actor| actor.id.clone()),
        object: object.id.clone(),
        target: target.as_ref().map(|target| target.id.clone()),
        score: Score::default(),
        occurred_at: None,
        expires_at: None,
    };
    Entry {
        header,
        t: AT.plus_ms(-86_400_000),
        reasons: ["topic:a-topic".to_owned()].into(),
        object: Arc::new(object),
        actor,
        target,
        data: Some(Arc::new(data.clone())),
        body: None,
    }
}

fn titled(name: &str, title: &str) -> Object {
    Object { title: Some(title.into()), ..Object::bare(id(name)) }
}

fn id(name: &str) -> Id {
    Id::new(name).expect("the names of samples are ids")
}
