//! The filters of a list, as the URL of its page has them.
//!
//! A page hands on whatever its URL says, so a filter that the API does not know is refused and never ignored. Fields
//! that a form sends empty are left out.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

use crate::call::Call;

/// The parameters of a query, in their order, without empty ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts.uri.query().unwrap_or_default()))
    }
}

impl Query {
    /// Reads a query, or a body of a form.
    pub(crate) fn of(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes());
        let filled = pairs.filter(|(_, value)| !value.is_empty());
        Self(filled.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The first value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub(crate) fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// All parameters.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a field of a page, or nothing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Returns true if there is no parameter but the cursor.
    pub(crate) fn is_unfiltered(&self) -> bool {
        self.0.iter().all(|(name, _)| name == "cursor")
    }

    /// The same without a parameter.
    pub(crate) fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(of, _)| of != name).cloned().collect())
    }

    /// The same with a parameter in place of the former.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut query = self.without(name);
        query.0.push((name.to_owned(), value.to_owned()));
        query
    }

    /// The call with all parameters.
    pub(crate) fn onto(&self, call: Call) -> Call {
        self.0.iter().fold(call, |call, (name, value)| call.with(name, value))
    }

    /// A path with the parameters.
    pub(crate) fn url(&self, path: &str) -> String {
        if self.0.is_empty() {
            return path.to_owned();
        }
        let pairs = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        format!("{path}?{query}")
    }

    /// The URL of the next page of a list, where its answer says that there is one.
    pub(crate) fn next_url(&self, path: &str, answer: &serde_json::Value) -> Option<String> {
        let cursor = answer["next"].as_str()?;
        Some(self.with("cursor", cursor).url(path))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_fields_of_a_form_are_left_out_and_unknown_ones_are_handed_on() {
        let query = Query::of("type=comment&actor=&tpye=x&state=a&state=b%26c");
        assert_eq!((query.get("type"), query.get("actor")), (Some("comment"), None));
        let call = query.onto(Call::get(&["events"]));
        assert_eq!(call.target(), "/v1/events?type=comment&tpye=x&state=a&state=b%26c");
    }

    #[test]
    fn the_next_page_keeps_the_filters_and_changes_the_cursor() {
        let query = Query::of("type=comment&cursor=old");
        let next = query.next_url("/events", &json!({"next": "a+b"}));
        assert_eq!(next.as_deref(), Some("/events?type=comment&cursor=a%2Bb"));
        assert_eq!(query.next_url("/events", &json!({"next": null})), None);
        assert!(Query::of("cursor=x").is_unfiltered() && !query.is_unfiltered());
    }
}
