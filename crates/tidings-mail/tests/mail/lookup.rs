//! Texts by locale, held against a plain reading of the contract (section 12, "Locales").

use proptest::prelude::*;
use tidings_core::Rules;
use tidings_core::content::Batch;
use tidings_core::model::{HostText, KnownTenant, Tenant};
use tidings_core::rules::{Texts, Wording};
use tidings_mail::{Design, canonical_locale, short};

use super::*;

/// Locales that readers, tenants, defaults and texts have.
const LOCALES: [&str; 27] = [
    "de",
    "de-AT",
    "DE-at-1996",
    "de-1996",
    "en",
    "en-GB",
    "en-a-bbb-x-c",
    "fr",
    "fr-CA",
    "zh",
    "zh-TW",
    "zh-Hant",
    "zh-Hant-HK",
    "zh-MO",
    "zh-CN",
    "zh-Hans",
    "zh-SG",
    "no",
    "nb-NO",
    "nb",
    "iw",
    "he-IL",
    "pt-BR",
    "PT-br-x-y",
    "xx",
    "xx-YY",
    "zh-1996",
];

/// Languages of which tidings has words.
const OWN: [&str; 24] = [
    "en", "de", "fr", "he", "ja", "es", "pt", "it", "nl", "pl", "ru", "uk", "cs", "sv", "da", "fi",
    "nb", "tr", "ar", "fa", "zh-hans", "zh-hant", "ko", "hi",
];

/// Texts by locale as they are given; the empty locale is none.
type Given = Vec<(&'static str, String)>;

/// "`zh-TW`, `-HK`, `-MO` as `zh-Hant-…`, other `zh` as `zh-Hans-…`, `no` as `nb`, `iw` as `he`", whatever the case.
fn canonical(tag: &str) -> Vec<String> {
    let lower = tag.to_lowercase();
    let mut parts: Vec<String> = lower.split('-').map(str::to_owned).collect();
    match parts[0].as_str() {
        "no" => parts[0] = "nb".to_owned(),
        "iw" => parts[0] = "he".to_owned(),
        "zh" => {
            let next = parts.get(1).map_or("", String::as_str);
            let is_script = next.len() == 4 && next.chars().all(char::is_alphabetic);
            let script = if ["tw", "hk", "mo"].contains(&next) { "hant" } else { "hans" };
            if !is_script {
                parts.insert(1, script.to_owned());
            }
        }
        _ => {}
    }
    parts
}

/// A text for a locale, "cut part by part (RFC 4647)": a part of one letter goes with what it introduces.
fn looked_up<'g>(given: &'g Given, locale: &str) -> Option<&'g str> {
    let mut parts = canonical(locale);
    while !parts.is_empty() {
        let found = given.iter().find(|(tag, _)| canonical(tag) == parts);
        if let Some((_, text)) = found {
            return Some(text);
        }
        parts.pop();
        while parts.last().is_some_and(|part| part.len() == 1) {
            parts.pop();
        }
    }
    None
}

/// "A text without locales serves all languages; beside others it is of `[defaults] locale`."
fn serving<'g>(given: &'g Given, locale: &str) -> Option<&'g str> {
    match &given[..] {
        [("", alone)] => Some(alone),
        _ => looked_up(given, locale),
    }
}

/// A reader, and what there is for them.
#[derive(Clone, Debug)]
struct World {
    reader: &'static str,
    tenant: Option<&'static str>,
    usual: &'static str,
    title: Given,
    sentence: Given,
    body: Given,
    /// Of the object and of the event; empty = none by locale.
    name: Given,
    written: Given,
}

impl World {
    /// The locales in their order.
    fn chain(&self) -> Vec<&'static str> {
        [Some(self.reader), self.tenant, Some(self.usual)].into_iter().flatten().collect()
    }

    /// The texts of the configuration, each of a locale where there are others.
    fn placed(&self, given: &Given) -> Given {
        let usual = |tag: &'static str| if tag.is_empty() { self.usual } else { tag };
        match &given[..] {
            [_] => given.clone(),
            _ => given.iter().map(|(tag, text)| (usual(tag), text.clone())).collect(),
        }
    }

    /// The place in the chain of the language of a message: the first that has every text that it needs.
    fn language(&self, needed: &[&Given]) -> usize {
        let chain = self.chain();
        let own: Given = OWN.map(|tag| (tag, String::new())).into();
        let has = |given: &Given, locale: &str| {
            given.is_empty() || serving(&self.placed(given), locale).is_some()
        };
        let is_whole = |locale: &&str| {
            looked_up(&own, locale).is_some() && needed.iter().all(|given| has(given, locale))
        };
        chain.iter().position(is_whole).unwrap_or(chain.len() - 1)
    }

    /// A text of the host's, "looked up alike but never needed".
    fn told(&self, given: &Given, language: usize) -> Option<String> {
        let chain = self.chain();
        let found = chain[language..].iter().find_map(|locale| looked_up(given, locale));
        found.or_else(|| given.first().map(|(_, text)| text.as_str())).map(str::to_owned)
    }

    fn rules(&self) -> Rules {
        let texts = |given: &Given| {
            let of = |tag: &str| if tag.is_empty() { String::new() } else { canonical_locale(tag) };
            Texts(given.iter().map(|(tag, text)| (of(tag), text.clone())).collect())
        };
        let sentences =
            self.sentence.iter().map(|(tag, text)| (*tag, format!("{text} {{object}}")));
        let wording = Wording {
            title: texts(&self.title),
            sentence: texts(&sentences.collect()),
            body: texts(&self.body),
            ..Wording::default()
        };
        let mut rules = Rules::default();
        rules.defaults.locale = self.usual.to_owned();
        rules.presentation.types.insert("artwork_published".to_owned(), wording);
        rules
    }

    fn batch(&self) -> Batch {
        let host = |given: &Given| {
            let all = given.iter().map(|(tag, text)| ((*tag).to_owned(), text.clone()));
            HostText::by_locale(all.collect())
        };
        let mut told = line(object("w", ""), &["named"]);
        let title = host(&self.name).or_else(|| Some("Plain".into()));
        told.object = std::sync::Arc::new(Object { title, ..object("w", "") });
        told.body = host(&self.written);
        let mut batch = batch(vec![group(Pivot::Object, None, vec![told])]);
        batch.tenant = self.tenant.map(|locale| {
            let tenant = Tenant { locale: Some(locale.to_owned()), ..Tenant::default() };
            KnownTenant::new(id("acme"), tenant, instant("2024-01-01T00:00:00Z")).into()
        });
        Batch { channel: "fcm".to_owned(), locale: self.reader.to_owned(), ..batch }
    }
}

/// The visible characters of a text: all but isolates.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\u{2068}' | '\u{2069}')).collect()
}

fn locale() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&LOCALES[..])
}

/// Texts in some locales, each in one alone. `kind` begins them, so that no text is another's.
fn given(kind: &'static str, least: usize) -> impl Strategy<Value = Given> {
    prop::sample::subsequence(&LOCALES[..], least..6).prop_shuffle().prop_map(move |tags| {
        let mut given = Given::new();
        for tag in tags {
            if given.iter().all(|(known, _)| canonical(known) != canonical(tag)) {
                given.push((tag, format!("{kind} {}", given.len())));
            }
        }
        given
    })
}

/// The same with one without a locale, alone or beside those of others than the default.
fn configured(kind: &'static str, usual: &'static str) -> impl Strategy<Value = Given> {
    (given(kind, 0), any::<bool>()).prop_map(move |(mut given, has_plain)| {
        if has_plain && given.iter().all(|(tag, _)| canonical(tag) != canonical(usual)) {
            given.push(("", format!("{kind} plain")));
        }
        given
    })
}

fn world() -> impl Strategy<Value = World> {
    (locale(), prop::option::of(locale()), locale())
        .prop_flat_map(|(reader, tenant, usual)| {
            let configured =
                (configured("Title", usual), configured("Said", usual), configured("Body", usual));
            (Just((reader, tenant, usual)), configured, given("Name", 0), given("Written", 0))
        })
        .prop_map(|((reader, tenant, usual), (title, sentence, body), name, written)| World {
            reader,
            tenant,
            usual,
            title,
            sentence,
            body,
            name,
            written,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn t42_texts_are_found_as_the_contract_says(world in world()) {
        let (rules, batch) = (world.rules(), world.batch());
        let bare = world.written.is_empty();
        let mut needed = vec![&world.title, &world.sentence];
        if bare {
            needed.push(&world.body);
        }
        let language = world.language(&needed);
        let locale = world.chain()[language];
        let name = world.told(&world.name, language).unwrap_or_else(|| "Plain".to_owned());
        let note = short(&batch, &Design::short("fcm", &rules).unwrap()).unwrap();
        // Where the default language lacks a text, another stands for it.
        if let Some(said) = serving(&world.placed(&world.sentence), locale) {
            prop_assert_eq!(shown(&note.title), format!("{said} {name}"), "in {}", locale);
        }
        if let Some(written) = world.told(&world.written, language) {
            prop_assert_eq!(shown(&note.text), written, "in {}", locale);
        } else if let Some(body) = serving(&world.placed(&world.body), locale) {
            prop_assert_eq!(shown(&note.text), body, "in {}", locale);
        }

        // A row of the inbox shows no body of the type.
        let design = Design::short("fcm", &rules).unwrap();
        let chain: Vec<&str> = [Some(world.reader), world.tenant].into_iter().flatten().collect();
        let row = design.row_text(&batch.groups, &chain, "UTC");
        let language = world.language(&[&world.title, &world.sentence]);
        let locale = world.chain()[language];
        let name = world.told(&world.name, language).unwrap_or_else(|| "Plain".to_owned());
        if let Some(said) = serving(&world.placed(&world.sentence), locale) {
            prop_assert_eq!(shown(&row.text), format!("{said} {name}"), "in {}", locale);
        }
        if let (Some(given), Some(written)) =
            (&batch.groups[0].lines[0].body, world.told(&world.written, language))
        {
            prop_assert_eq!(row.localised(given), written, "in {}", locale);
        }
    }
}
