//! The design that all mails of a configuration have in common: read once, so that a mail parses nothing.

use std::collections::BTreeMap;

use tidings_core::batch::Batch;
use tidings_core::channel::EMAIL;
use tidings_core::presentation::{Presentation, Quota, Texts, for_locale};
use tidings_core::rules::Policy;
use tidings_core::{Id, Rules};

use crate::brand::BrandView;
use crate::error::DesignError;
use crate::template::Templates;
use crate::words::Words;
use crate::{Sender, Sentence, SentenceError};

/// The design of a configuration's mails.
#[derive(Clone, Debug)]
pub struct Design {
    pub(crate) sender: Sender,
    pub(crate) brand: BrandView,
    pub(crate) templates: Templates,
    /// The locale of recipients that don't say.
    pub(crate) usual_locale: String,
    types: BTreeMap<String, Phrases>,
    /// By lane.
    quotas: BTreeMap<String, Quota>,
}

/// The sentences of a type.
#[derive(Clone, Debug)]
struct Phrases {
    title: ByLocale,
    sentence: ByLocale,
    subject: ByLocale,
}

type ByLocale = BTreeMap<String, Sentence>;

impl Design {
    /// The design that a configuration asks for.
    ///
    /// # Errors
    /// [`DesignError`] names what has to be changed.
    pub fn new(sender: Sender, rules: &Rules) -> Result<Self, DesignError> {
        let Presentation {
            brand,
            types,
            digests,
            templates,
        } = &rules.presentation;
        let mut phrases = BTreeMap::new();
        for (kind, wording) in types {
            let read = |texts| {
                sentences(texts).map_err(|fault| DesignError::Sentence {
                    kind: kind.clone(),
                    fault,
                })
            };
            let of_kind = Phrases {
                title: read(&wording.title)?,
                sentence: read(&wording.sentence)?,
                subject: read(&wording.subject)?,
            };
            phrases.insert(kind.clone(), of_kind);
        }
        let mut quotas = BTreeMap::new();
        for (digest, quota) in digests {
            quotas.insert(format!("digest:{digest}"), quota.clone());
        }
        for route in rules
            .types
            .values()
            .filter_map(|kind| kind.channels.get(EMAIL))
        {
            if let (Some(lane), Policy::Digest { digest }) = (&route.lane, &route.policy)
                && let Some(quota) = digests.get(digest)
            {
                quotas.insert(lane.clone(), quota.clone());
            }
        }
        Ok(Self {
            brand: BrandView::of(brand, &sender),
            sender,
            templates: Templates::new(templates)?,
            usual_locale: rules.defaults.locale.clone(),
            types: phrases,
            quotas,
        })
    }

    /// The design of mails for which nothing is configured but their sender.
    #[must_use]
    pub fn plain(sender: Sender) -> Self {
        Self::new(sender, &Rules::default()).expect("the compiled-in templates have no fault")
    }

    /// The sender.
    #[must_use]
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The bounds on what a message shows.
    pub(crate) fn quota(&self, batch: &Batch) -> Quota {
        self.quotas.get(&batch.lane).cloned().unwrap_or_default()
    }

    /// The title of a type as it goes with a count.
    pub(crate) fn title(
        &self,
        kind: &Id,
        locale: &str,
        count: usize,
        words: &Words,
    ) -> Option<String> {
        let title = self.pick(kind, locale, |phrases| &phrases.title)?;
        title.counted(count, words)
    }

    /// The sentence of a type.
    pub(crate) fn sentence(&self, kind: &Id, locale: &str) -> Option<&Sentence> {
        self.pick(kind, locale, |phrases| &phrases.sentence)
    }

    /// The subject of messages about a type alone.
    pub(crate) fn subject(&self, kind: &Id, locale: &str) -> Option<&Sentence> {
        self.pick(kind, locale, |phrases| &phrases.subject)
    }

    fn pick(
        &self,
        kind: &Id,
        locale: &str,
        which: impl Fn(&Phrases) -> &ByLocale,
    ) -> Option<&Sentence> {
        let sentences = which(self.types.get(kind.as_str())?);
        for_locale(locale, &self.usual_locale, |tag| sentences.get(tag))
            .or_else(|| sentences.values().next())
    }
}

fn sentences(texts: &Texts) -> Result<ByLocale, SentenceError> {
    texts
        .0
        .iter()
        .map(|(locale, text)| Ok((locale.clone(), Sentence::parse(text)?)))
        .collect()
}
