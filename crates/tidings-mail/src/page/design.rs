//! The design that all mails of a configuration have in common: read once, so that a mail parses nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_core::content::{Batch, Group, Line};
use tidings_core::model::{EMAIL, EMAIL_NO, MessageName};
use tidings_core::rules::{
    Brand, Policy, Presentation, Quota, Texts, capitalised, in_words, lane_stem,
};
use tidings_core::{Id, Rules};

use crate::error::DesignError;
use crate::message::dkim::Dkim;
use crate::message::tag::MailTag;
use crate::message::token::TokenKey;
use crate::page::brand::BrandView;
use crate::page::tenant::{DefaultLanguages, TenantDesigns};
use crate::templates::rendered::Rendered;
use crate::templates::template::Templates;
use crate::words::books::Books;
use crate::words::format::ReaderLocale;
use crate::words::locale::{Language, Localised, first_whole};
use crate::words::localised::Tags;
use crate::words::plural::number_of_headings;
use crate::words::text;
use crate::{Sender, Sentence};

/// The design of a configuration's mails.
#[derive(Clone, Debug)]
pub struct Design {
    pub(crate) sender: Sender,
    pub(crate) brand: Arc<BrandView>,
    /// The brand as it is configured.
    pub(super) own_brand: Arc<Brand>,
    /// The name of the tenant whose design it is.
    pub(super) tenant: Option<String>,
    /// The designs of tenants.
    pub(super) tenant_designs: TenantDesigns,
    pub(crate) templates: Arc<Templates>,
    /// The items of its mails that were rendered a moment ago.
    pub(crate) rendered: Rendered,
    /// The language of the default locale.
    pub(crate) usual: Language,
    /// The same for tenants with another form of address.
    pub(super) default_languages: Arc<DefaultLanguages>,
    categories: Arc<BTreeMap<String, Localised<String>>>,
    digests: Arc<BTreeMap<String, Localised<String>>>,
    types: Arc<BTreeMap<String, TypePhrases>>,
    /// The mailboxes to which answers go, by category.
    category_replies: Arc<BTreeMap<String, Sender>>,
    /// The reply address if neither the type nor the category has one: the tenant's, or the channel's.
    pub(super) reply_to: Option<Sender>,
    /// By lane.
    quotas: Arc<BTreeMap<String, Quota>>,
    /// Lanes of the configuration's own naming that are those of a digest.
    digest_lanes: Arc<BTreeSet<String>>,
    required: Arc<BTreeSet<String>>,
    /// The way back from mails; `None` without a public address.
    pub(crate) links: Option<PageLinks>,
    /// The key of the tags of mails; `None` without a server.
    pub(super) tags: Option<TokenKey>,
    /// The address to which bounces go, where it is not the sender's.
    bounces: Option<String>,
    pub(crate) dkim: Option<Arc<Dkim>>,
}

/// The locales of a batch's message, in order of preference.
fn locales(batch: &Batch) -> impl Iterator<Item = &str> {
    let of_tenant = batch.tenant.as_ref().and_then(|known| known.tenant.locale.as_deref());
    [batch.locale.as_str()].into_iter().chain(of_tenant)
}

/// The public address of the pages that mails lead to, and the key of their tokens.
#[derive(Clone, Debug)]
pub(crate) struct PageLinks {
    pub(crate) base: String,
    pub(crate) key: TokenKey,
}

impl PageLinks {
    pub(super) fn of(brand: &BrandView, key: &TokenKey) -> Option<Self> {
        let base = brand.url.as_deref()?.trim_end_matches('/');
        Some(Self { base: base.to_owned(), key: key.clone() })
    }
}

/// The sentences of a type.
#[derive(Clone, Debug)]
struct TypePhrases {
    title: Localised<Sentence>,
    sentence: Localised<Sentence>,
    subject: Localised<Sentence>,
    body: Localised<Sentence>,
    action: Localised<Sentence>,
    notice: Localised<Sentence>,
    reply_to: Option<Sender>,
}

impl Design {
    /// The design that a configuration asks for.
    ///
    /// # Errors
    /// [`DesignError`] names what has to be changed.
    pub fn new(sender: Sender, rules: &Rules) -> Result<Self, DesignError> {
        Self::of(EMAIL, sender, rules)
    }

    /// The design of a channel's messages in a few words, which show no sender.
    ///
    /// # Errors
    /// [`DesignError`] names what has to be changed.
    pub fn short(channel: &str, rules: &Rules) -> Result<Self, DesignError> {
        Self::of(channel, Sender::nobody(), rules)
    }

    fn of(channel: &str, sender: Sender, rules: &Rules) -> Result<Self, DesignError> {
        let Presentation {
            brand,
            types,
            category_reply_to,
            reply_to,
            digests,
            templates,
            order: _,
            words,
            digest_titles,
        } = &rules.presentation;
        let usual_locale = &rules.defaults.locale;
        let books = Books::of(&rules.presentation);
        let mut categories = BTreeMap::new();
        for (name, category) in &rules.categories {
            let title = Localised::plain(&category.title, usual_locale);
            categories.insert(name.clone(), title);
        }
        let mut titles = BTreeMap::new();
        for (name, title) in digest_titles {
            titles.insert(name.clone(), Localised::plain(title, usual_locale));
        }
        let mut phrases = BTreeMap::new();
        for (event_type, wording) in types {
            let read = |texts: &Texts| {
                let sentences = Localised::read(texts, usual_locale, |text, locale| {
                    Sentence::parse_with_books(&books, text, locale)
                });
                sentences.map_err(|fault| DesignError::Sentence {
                    event_type: event_type.clone(),
                    fault: Box::new(fault),
                })
            };
            let of_kind = TypePhrases {
                title: read(&wording.title)?,
                sentence: read(&wording.sentence)?,
                subject: read(&wording.subject)?,
                body: read(&wording.body)?,
                action: read(&wording.action)?,
                notice: read(&wording.notice)?,
                reply_to: wording.reply_to.as_deref().map(Sender::parse).transpose()?,
            };
            phrases.insert(event_type.clone(), of_kind);
        }
        let mut category_replies = BTreeMap::new();
        for (name, mailbox) in category_reply_to {
            category_replies.insert(name.clone(), Sender::parse(mailbox)?);
        }
        let mut quotas = BTreeMap::new();
        for (digest, quota) in digests {
            quotas.insert(format!("digest:{digest}"), quota.clone());
        }
        let mut digest_lanes = BTreeSet::new();
        for route in rules.types.values().filter_map(|kind| kind.channels.get(channel)) {
            if let (Some(lane), Policy::Digest { digest }) = (&route.lane, &route.policy) {
                digest_lanes.insert(lane.clone());
                if let Some(quota) = digests.get(digest) {
                    quotas.insert(lane.clone(), quota.clone());
                }
            }
        }
        let required = rules.types.iter().filter(|(_, kind)| kind.required);
        Ok(Self {
            brand: Arc::new(BrandView::of(brand, &sender)),
            own_brand: Arc::new(brand.clone()),
            tenant: None,
            tenant_designs: TenantDesigns::default(),
            sender,
            templates: Arc::new(Templates::new(templates)?),
            rendered: Rendered::default(),
            usual: Language::with_books(&books, usual_locale),
            default_languages: Arc::new(DefaultLanguages::new(words.clone(), usual_locale.clone())),
            categories: Arc::new(categories),
            digests: Arc::new(titles),
            types: Arc::new(phrases),
            category_replies: Arc::new(category_replies),
            reply_to: reply_to.as_deref().map(Sender::parse).transpose()?,
            quotas: Arc::new(quotas),
            digest_lanes: Arc::new(digest_lanes),
            required: Arc::new(required.map(|(name, _)| name.clone()).collect()),
            links: None,
            tags: None,
            bounces: rules.feedback.address.clone(),
            dkim: None,
        })
    }

    /// Adds tags to mails, and links from them to the pages of a server, if the brand has a public address.
    #[must_use]
    pub fn linked(mut self, key: TokenKey) -> Self {
        self.links = PageLinks::of(&self.brand, &key);
        self.tags = Some(key);
        self.tenant_designs = TenantDesigns::default();
        self
    }

    /// The same without tags and links: nothing in its messages acts in a recipient's name.
    #[must_use]
    pub fn unlinked(self) -> Self {
        Self { links: None, tags: None, tenant_designs: TenantDesigns::default(), ..self }
    }

    /// The same with signed mails.
    #[must_use]
    pub fn signed(self, dkim: Dkim) -> Self {
        Self { dkim: Some(Arc::new(dkim)), tenant_designs: TenantDesigns::default(), ..self }
    }

    /// The tag of a mail to an address.
    pub(crate) fn tag(&self, batch: &Batch, address: &str) -> Option<String> {
        let key = self.tags.as_ref()?;
        let message = MessageName { due: batch.at.day(), id: batch.message };
        Some(MailTag::new(message, EMAIL_NO, address, key).seal(key))
    }

    /// The address to which bounces of a mail go, where it is not the sender's.
    pub(crate) fn return_path(&self, tag: Option<&str>) -> Option<String> {
        let bounces = self.bounces.as_deref()?;
        Some(tag.map_or_else(|| bounces.to_owned(), |tag| MailTag::return_path(tag, bounces)))
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

    /// The name of the tenant whose design it is.
    pub(crate) fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Returns true if a lane's messages are those of a digest.
    pub(crate) fn is_digest(&self, lane: &str) -> bool {
        lane.starts_with("digest:") || self.digest_lanes.contains(lane_stem(lane))
    }

    /// Returns true if recipients can't do without a type.
    pub(crate) fn is_required(&self, event_type: &str) -> bool {
        self.required.contains(event_type)
    }

    /// The bounds on what a message shows.
    pub(crate) fn quota(&self, batch: &Batch) -> Quota {
        self.quotas.get(lane_stem(&batch.lane)).cloned().unwrap_or_default()
    }

    /// The language of all of a batch's message.
    pub(crate) fn language(&self, batch: &Batch) -> Language {
        let types: BTreeSet<&Id> = batch.types().collect();
        let is_mail = batch.channel == EMAIL;
        let language = first_whole(locales(batch), &self.usual, |language| {
            let has_categories = || {
                let mut groups = batch.groups.iter();
                groups.all(|group| {
                    let title = self.categories.get(&group.category);
                    title.is_none_or(|title| title.serves(language))
                })
            };
            let has_phrases_of = |event_type: &&Id| {
                let phrases = self.types.get(event_type.as_str());
                let has_subject = || phrases.is_none_or(|of| of.subject.serves(language));
                self.has_phrases(event_type, language)
                    && (!is_mail || types.len() > 1 || has_subject())
                    && self.has_details(event_type, batch, language)
            };
            // A layout of the host's has words of its own.
            let has_words = language.has_words || self.templates.have_layout(language);
            has_words && types.iter().all(has_phrases_of) && (!is_mail || has_categories())
        });
        language.for_reader(ReaderLocale::new(&batch.locale, &batch.tz))
    }

    /// The tag of the language of a batch's message.
    #[must_use]
    pub fn lang(&self, batch: &Batch) -> String {
        self.language(batch).tag()
    }

    /// Resolves the titles and bodies of a batch to the language of its message.
    #[must_use]
    pub fn localised<'b>(&self, batch: &'b Batch) -> Cow<'b, Batch> {
        Tags::of([&self.language(batch)], &self.usual).batch(batch)
    }

    /// The first language of a reader's locales that has the texts of some types.
    pub(crate) fn language_of(&self, locales: &[&str], types: &[&Id]) -> Language {
        first_whole(locales.iter().copied(), &self.usual, |language| {
            let has_phrases_of = |event_type: &&Id| self.has_phrases(event_type, language);
            language.has_words && types.iter().all(has_phrases_of)
        })
    }

    /// Returns true if a language has the title and the sentence of a type, as far as any has.
    fn has_phrases(&self, event_type: &Id, language: &Language) -> bool {
        let phrases = self.types.get(event_type.as_str());
        phrases.is_none_or(|of| of.title.serves(language) && of.sentence.serves(language))
    }

    /// Returns true if a language has the other texts of a type that a batch's message shows, as far as any language has
    /// them: the body, and the action and the notice of a mail with one item.
    fn has_details(&self, event_type: &Id, batch: &Batch, language: &Language) -> bool {
        let Some(phrases) = self.types.get(event_type.as_str()) else { return true };
        let lines = || batch.groups.iter().flat_map(|group| &group.lines);
        let is_bare = |line: &Line| line.body.is_none() && line.types.contains(event_type);
        let is_single = batch.channel == EMAIL && lines().nth(1).is_none();
        (phrases.body.serves(language) || !lines().any(is_bare))
            && (!is_single || (phrases.action.serves(language) && phrases.notice.serves(language)))
    }

    /// Returns true if a language has the titles of some types, as far as any has.
    pub(crate) fn has_titles<'t>(
        &self,
        types: impl IntoIterator<Item = &'t Id>,
        language: &Language,
    ) -> bool {
        let phrases =
            types.into_iter().filter_map(|event_type| self.types.get(event_type.as_str()));
        phrases.map(|phrases| &phrases.title).all(|title| title.serves(language))
    }

    /// Returns true if a language has the title of a category, as far as any has.
    pub(crate) fn has_category(&self, name: &str, language: &Language) -> bool {
        self.categories.get(name).is_none_or(|title| title.serves(language))
    }

    /// The title of a category, or its name in words.
    pub(crate) fn category(&self, name: &str, language: &Language) -> String {
        let title = self.categories.get(name).and_then(|title| title.get(language));
        title.map_or_else(|| capitalised(&text::clean(&in_words(name))), |title| text::clean(title))
    }

    /// The title of a digest in a language, if it has one.
    pub(crate) fn digest(&self, name: &str, language: &Language) -> Option<String> {
        let title = self.digests.get(name)?.get(language)?;
        Some(text::clean(title)).filter(|title| !title.is_empty())
    }

    /// Returns true if a language has the title of a digest, as far as any has.
    pub(crate) fn has_digest(&self, name: &str, language: &Language) -> bool {
        self.digests.get(name).is_none_or(|title| title.serves(language))
    }

    /// The title of a type as it goes with a count.
    pub(crate) fn title(
        &self,
        event_type: &Id,
        language: &Language,
        count: usize,
    ) -> Option<String> {
        let phrases = self.types.get(event_type.as_str())?;
        phrases.title.get(language)?.counted(count)
    }

    /// The title of a type as a heading of several, without a number.
    pub(crate) fn plural_title(&self, event_type: &Id, language: &Language) -> Option<String> {
        self.title(event_type, language, number_of_headings(&language.tag()))
    }

    /// The sentence of a type.
    pub(crate) fn sentence(&self, event_type: &Id, language: &Language) -> Option<&Sentence> {
        let phrases = self.types.get(event_type.as_str())?;
        phrases.sentence.get(language)
    }

    /// The text of a type for what a person wrote, for events without a body of their own.
    pub(crate) fn body(&self, event_type: &Id, language: &Language) -> Option<&Sentence> {
        self.types.get(event_type.as_str())?.body.get(language)
    }

    /// The label of the button of a mail about one event of a type.
    pub(crate) fn action(&self, event_type: &Id, language: &Language) -> Option<&Sentence> {
        self.types.get(event_type.as_str())?.action.get(language)
    }

    /// Returns true if a language has the label of a type's button.
    pub(crate) fn has_action(&self, event_type: &Id, language: &Language) -> bool {
        let phrases = self.types.get(event_type.as_str());
        phrases.is_some_and(|phrases| phrases.action.serves(language))
    }

    /// The text under a mail about one event of a type.
    pub(crate) fn notice_of(&self, event_type: &Id, language: &Language) -> Option<&Sentence> {
        self.types.get(event_type.as_str())?.notice.get(language)
    }

    /// The mailbox to which answers to a batch's mail go, where all of it names one: of its types, else of its
    /// categories, else of the tenant, else of the channel; `None` = the sender's.
    pub(crate) fn reply_to(&self, batch: &Batch) -> Option<&Sender> {
        let of_group = |group: &Group| {
            let of_type = self.types.get(group.event_type.as_str());
            let of_type = of_type.and_then(|phrases| phrases.reply_to.as_ref());
            let of_category = || self.category_replies.get(&group.category);
            of_type.or_else(of_category).or(self.reply_to.as_ref())
        };
        let mut mailboxes = batch.groups.iter().map(of_group);
        let first = mailboxes.next()?;
        if mailboxes.all(|other| other == first) { first } else { self.reply_to.as_ref() }
    }

    /// The subject of messages about a type alone.
    pub(crate) fn subject(&self, event_type: &Id, language: &Language) -> Option<&Sentence> {
        let phrases = self.types.get(event_type.as_str())?;
        phrases.subject.get(language)
    }
}
