//! Parsing of queries: parameters, one by one, each with its type.

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use tidings_config::wording::{did_you_mean, nearest, one_of, quoted};
use tidings_core::model::{CHANNELS, ChannelNo, INBOX, channel_no, sending_channels};
use tidings_core::{Id, Instant, Rules};

use crate::change::before::{DRY, EXPECT};
use crate::error::{Code, Problem};
use crate::service::Service;

/// The query, as `T` reads it.
pub(crate) struct InQuery<T>(pub(crate) T);

/// A reader of a query's parameters.
pub(crate) trait FromQuery: Sized {
    /// The parameters that there are.
    const KNOWN: &'static [&'static str];
    /// Parameters that may be given several times.
    const REPEATED: &'static [&'static str] = &[];

    /// Reads them; others were refused before.
    ///
    /// # Errors
    /// [`Code::InvalidQuery`], with what was expected and what was got.
    fn read(query: &Parameters) -> Result<Self, Problem>;
}

/// The parameters of a call that knows no others.
pub(crate) struct BeforeAlone;

impl FromQuery for BeforeAlone {
    const KNOWN: &'static [&'static str] = &[DRY, EXPECT];

    fn read(_: &Parameters) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// The query of a call that takes no parameter.
pub(crate) struct NoParameters;

impl FromQuery for NoParameters {
    const KNOWN: &'static [&'static str] = &[];

    fn read(_: &Parameters) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// The parameters of a query in their order.
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// The parameters of a request.
    pub(crate) async fn of(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, Problem> {
        let read = Query::<Vec<(String, String)>>::from_request_parts(parts, service).await;
        // Every query is a list of texts.
        let Query(parameters) = read.map_err(|_| wrong("the query is not valid".to_owned()))?;
        Ok(Self(parameters))
    }

    /// The parameters of a list's request: those of its filter and those of all lists, none of them empty.
    ///
    /// # Errors
    /// [`Code::InvalidQuery`].
    pub(crate) async fn of_list(
        parts: &mut Parts,
        service: &Arc<Service>,
        known: [&[&'static str]; 2],
        repeated: &[&'static str],
    ) -> Result<Self, Problem> {
        let parameters = Self::of(parts, service).await?;
        parameters.only(&known.concat(), repeated)?;
        parameters.none_empty()
    }

    fn none_empty(self) -> Result<Self, Problem> {
        match self.0.iter().find(|(_, value)| value.is_empty()) {
            None => Ok(self),
            Some((name, _)) => {
                let detail = format!("`{name}` is empty");
                Err(wrong(detail).hint(format!("give `{name}` a value, or leave it out")))
            }
        }
    }

    /// Parameters that stand in a body, with the faults of those of a list.
    ///
    /// # Errors
    /// [`Code::InvalidQuery`].
    pub(crate) fn of_pairs(
        pairs: Vec<(String, String)>,
        known: &[&'static str],
        repeated: &[&'static str],
    ) -> Result<Self, Problem> {
        let parameters = Self(pairs);
        parameters.only(known, repeated)?;
        parameters.none_empty()
    }

    /// All of them, in their order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A parameter, if it is given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let given = self.0.iter().find(|(key, _)| key == name);
        given.map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let given = self.0.iter().filter(|(key, _)| key == name);
        given.map(|(_, value)| value.clone()).collect()
    }

    /// A whole number within bounds.
    pub(crate) fn whole_number(
        &self,
        name: &str,
        range: RangeInclusive<u16>,
    ) -> Result<Option<u16>, Problem> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => {
                let (least, most) = range.into_inner();
                let wanted = format!("a whole number from {least} to {most}");
                let detail = format!("`{name}` must be {wanted}, got {}", quoted(text));
                Err(wrong(detail).hint(format!("Example: `{name}={most}`")))
            }
        }
    }

    /// A value that is read from its text; `wanted` describes it in faults.
    pub(crate) fn parsed<T, E>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
        wanted: &str,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let detail = || wrong(format!("`{name}` must be {wanted}, got {}", quoted(text)));
        parse(text).map(Some).map_err(|_| detail())
    }

    /// One of some words.
    pub(crate) fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Problem> {
        self.text(name).map(|text| word_of(name, text, words)).transpose()
    }

    /// Any of some words, as often as it is given.
    pub(crate) fn words<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Vec<T>, Problem> {
        self.texts(name).iter().map(|text| word_of(name, text, words)).collect()
    }

    /// An instant, as RFC 3339 has it.
    pub(crate) fn instant(&self, name: &str) -> Result<Option<Instant>, Problem> {
        self.parsed(name, Instant::parse, "a time such as `2024-03-07T08:00:00Z`")
    }

    /// An id. What has it may not be there.
    pub(crate) fn id(&self, name: &str) -> Result<Option<Id>, Problem> {
        self.parsed(name, Id::new, "an id of 1 to 256 bytes without control characters")
    }

    /// A type of the configuration.
    pub(crate) fn configured_type(&self, name: &str, rules: &Rules) -> Result<Option<Id>, Problem> {
        let types = rules.types.keys().map(String::as_str);
        let known = self.configured(name, "type", types)?;
        Ok(known.and_then(|name| Id::new(name).ok()))
    }

    /// Types of the configuration, as often as it is given.
    pub(crate) fn configured_types(&self, name: &str, rules: &Rules) -> Result<Vec<Id>, Problem> {
        let types = rules.types.keys().map(String::as_str);
        let each = self.texts(name).into_iter().map(|text| {
            let known = configured(name, &text, "type", types.clone())?;
            Id::new(known).map_err(|_| wrong(format!("`{name}` is no id")))
        });
        each.collect()
    }

    /// A channel of the configuration: one that a type or a section of it has, or the inbox.
    pub(crate) fn configured_channel(
        &self,
        name: &str,
        rules: &Rules,
    ) -> Result<Option<ChannelNo>, Problem> {
        self.channel_of(name, CHANNELS.iter().copied(), rules)
    }

    /// A channel of the configuration that sends messages, which the inbox does not.
    pub(crate) fn sending_channel(
        &self,
        name: &str,
        rules: &Rules,
    ) -> Result<Option<ChannelNo>, Problem> {
        self.channel_of(name, sending_channels().map(|channel| channel.name), rules)
    }

    fn channel_of(
        &self,
        name: &str,
        all: impl Iterator<Item = &'static str>,
        rules: &Rules,
    ) -> Result<Option<ChannelNo>, Problem> {
        let is_configured = |channel: &&'static str| {
            *channel == INBOX
                || rules.channels.contains_key(*channel)
                || rules.types.values().any(|of_type| of_type.channels.contains_key(*channel))
        };
        let channels: Vec<&str> = all.filter(is_configured).collect();
        let known = self.configured(name, "channel", channels.iter().copied())?;
        Ok(known.and_then(channel_no))
    }

    /// A name that the configuration has; `what` it is of.
    pub(crate) fn configured<'q>(
        &'q self,
        name: &str,
        what: &str,
        known: impl Iterator<Item = &'q str> + Clone,
    ) -> Result<Option<&'q str>, Problem> {
        self.text(name).map(|text| configured(name, text, what, known)).transpose()
    }

    /// Refuses parameters that are not among `known`, and those that are given twice but for `repeated`.
    ///
    /// # Errors
    /// [`Code::InvalidQuery`].
    pub(crate) fn only(
        &self,
        known: &[&'static str],
        repeated: &[&'static str],
    ) -> Result<(), Problem> {
        for (at, (name, _)) in self.0.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let detail = format!("unknown parameter {}", quoted(name));
                let hint = did_you_mean(name, known.iter().copied());
                return Err(wrong(detail).hint(hint.unwrap_or_default()));
            }
            let is_repeated = self.0[..at].iter().any(|(before, _)| before == name);
            if is_repeated && !repeated.contains(&name.as_str()) {
                let detail = format!("`{name}` is given twice");
                return Err(wrong(detail).hint("keep one of the two"));
            }
        }
        Ok(())
    }
}

/// One of some words, of a parameter.
fn word_of<T: Copy>(name: &str, text: &str, words: &[(&str, T)]) -> Result<T, Problem> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let wanted = one_of(&names);
    let detail = format!("`{name}` must be {wanted}, got {}", quoted(text));
    let near = nearest(text, names.iter().copied());
    let hint = match (near, names.first()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some(first)) => format!("Example: `{name}={first}`"),
        (None, None) => String::new(),
    };
    Err(wrong(detail).hint(hint))
}

/// A name that the configuration has, of a parameter; `what` it is of.
fn configured<'q>(
    name: &str,
    text: &'q str,
    what: &str,
    known: impl Iterator<Item = &'q str> + Clone,
) -> Result<&'q str, Problem> {
    if known.clone().any(|known| known == text) {
        return Ok(text);
    }
    let detail = format!("`{name}` names the {what} {}, which isn't configured", quoted(text));
    Err(wrong(detail).hint(did_you_mean(text, known).unwrap_or_default()))
}

/// The problem of a wrong query.
pub(crate) fn wrong(detail: String) -> Problem {
    Problem::new(Code::InvalidQuery, detail)
}

impl<T: FromQuery> FromRequestParts<Arc<Service>> for InQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let parameters = Parameters::of(parts, service).await?;
        parameters.only(T::KNOWN, T::REPEATED)?;
        T::read(&parameters).map(Self)
    }
}
