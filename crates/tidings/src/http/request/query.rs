//! Parsing of queries: parameters, one by one, each with its type.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::http::error::{Code, Problem};
use crate::http::service::Service;
use crate::wording::{did_you_mean, one_of, quoted};

/// The query, as `T` reads it.
pub(in crate::http) struct InQuery<T>(pub(in crate::http) T);

/// A reader of a query's parameters.
pub(in crate::http) trait FromQuery: Sized {
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

/// The parameters of a query in their order.
pub(in crate::http) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// A parameter, if it is given.
    pub(in crate::http) fn text(&self, name: &str) -> Option<&str> {
        let given = self.0.iter().find(|(key, _)| key == name);
        given.map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub(in crate::http) fn texts(&self, name: &str) -> Vec<String> {
        let given = self.0.iter().filter(|(key, _)| key == name);
        given.map(|(_, value)| value.clone()).collect()
    }

    /// A whole number within bounds.
    pub(in crate::http) fn whole_number(
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
    pub(in crate::http) fn parsed<T, E>(
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
    pub(in crate::http) fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(Some(*value));
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let wanted = one_of(&names);
        let detail = format!("`{name}` must be {wanted}, got {}", quoted(text));
        Err(wrong(detail).hint(format!("Example: `{name}={}`", names[0])))
    }

    /// Refuses parameters that are not among `known`, and those that are given twice but for `repeated`.
    fn only(
        &self,
        known: &'static [&'static str],
        repeated: &'static [&'static str],
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

fn wrong(detail: String) -> Problem {
    Problem::new(Code::InvalidQuery, detail)
}

impl<T: FromQuery> FromRequestParts<Arc<Service>> for InQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let read = Query::<Vec<(String, String)>>::from_request_parts(parts, service).await;
        // Every query is a list of texts.
        let Query(parameters) = read.map_err(|_| wrong("the query is not valid".to_owned()))?;
        let parameters = Parameters(parameters);
        parameters.only(T::KNOWN, T::REPEATED)?;
        T::read(&parameters).map(Self)
    }
}
