//! Before a change is made (contract, section 11): what it would do with `dry`, and how many people it may touch with
//! `expect`.
//!
//! The table of calls says which calls know these parameters; all others that change something refuse them.

use axum::extract::Request;
use axum::http::Uri;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use percent_encoding::percent_decode_str;
use tidings_config::wording::quoted;
use tidings_core::engine::CommandConcerns;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ObjectBuilder, Type};

use crate::error::{Code, Problem};

pub(crate) use crate::error::Concerned;

/// The parameter that asks what a call would do.
pub(crate) const DRY: &str = "dry";

/// The parameter with the most people that a call may touch.
pub(crate) const EXPECT: &str = "expect";

/// The conditions under which a caller wants a change made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// True if nothing is to be done.
    pub(crate) dry: bool,
    /// The most people that the change may touch.
    pub(crate) expect: Option<u64>,
}

impl Before {
    /// Refuses a dry run of a change that is about to be made.
    ///
    /// # Errors
    /// [`Code::NoDry`].
    pub(crate) fn ensure_done(self) -> Result<(), Problem> {
        if self.dry { Err(no_dry(DRY)) } else { Ok(()) }
    }

    /// Reads it from the query of a request.
    ///
    /// # Errors
    /// [`Code::InvalidQuery`].
    pub(crate) fn of(uri: &Uri) -> Result<Self, Problem> {
        let mut before = Self::default();
        for (name, value) in pairs(uri) {
            let detail = |wanted| format!("`{name}` must be {wanted}, got {}", quoted(&value));
            let wrong = |wanted| Problem::new(Code::InvalidQuery, detail(wanted));
            match (name.as_str(), value.as_str()) {
                (DRY, "true") => before.dry = true,
                (DRY, "false") => {}
                (DRY, _) => return Err(wrong("`true` or `false`").hint("Example: `dry=true`")),
                (EXPECT, number) => {
                    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
                    let number = number.parse().ok().filter(|_| is_plain);
                    let wanted = "a whole number of people";
                    let problem = || wrong(wanted).hint("Example: `expect=100`");
                    before.expect = Some(number.ok_or_else(problem)?);
                }
                _ => {}
            }
        }
        Ok(before)
    }
}

/// The parameters of a query.
fn pairs(uri: &Uri) -> impl Iterator<Item = (String, String)> {
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        percent_decode_str(&text).decode_utf8_lossy().into_owned()
    };
    let query = uri.query().unwrap_or_default().split('&');
    query.map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    })
}

/// Refuses `dry` and `expect` of a call that does not know them.
pub(crate) async fn refuse(request: Request, next: Next) -> Response {
    match ensure_none(request.uri()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Refuses the query of a request that asks something before a change.
///
/// # Errors
/// [`Code::NoDry`].
pub(crate) fn ensure_none(uri: &Uri) -> Result<(), Problem> {
    match pairs(uri).find(|(name, _)| name == DRY || name == EXPECT) {
        Some((name, _)) => Err(no_dry(&name)),
        None => Ok(()),
    }
}

/// The problem of a parameter that the call does not take.
fn no_dry(name: &str) -> Problem {
    Problem::new(Code::NoDry, format!("this call does not take `{name}`"))
}

/// The fields of an answer to a dry run; both absent in others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Foreseen {
    /// True if nothing was done.
    pub(crate) dry: Option<bool>,
    /// The people, entries and messages that the change would touch.
    pub(crate) concerns: Option<Concerned>,
}

impl Foreseen {
    pub(crate) fn of(concerns: CommandConcerns) -> Self {
        Self { dry: Some(true), concerns: Some(concerns.into()) }
    }
}

/// The two parameters, as the document has them once for all calls.
pub(crate) fn parameters() -> [(&'static str, Parameter); 2] {
    let dry = "Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and \
               `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at";
    let expect = "The most people that the call may touch: with more it is refused with `grew`, and nothing changes";
    let of = |name: &str, about: &str, schema: ObjectBuilder| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Query)
            .description(Some(about))
            .schema(Some(schema))
            .build()
    };
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
    let truth = ObjectBuilder::new().schema_type(Type::Boolean);
    [(DRY, of(DRY, dry, truth)), (EXPECT, of(EXPECT, expect, number))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Result<Before, Code> {
        let uri = format!("/v1/events?{query}").parse::<Uri>().unwrap();
        Before::of(&uri).map_err(|problem| problem.code)
    }

    #[test]
    fn a_query_says_what_is_asked_before_a_change() {
        let before = |dry, expect| Ok(Before { dry, expect });
        assert_eq!(of("answers=all"), before(false, None));
        assert_eq!(of("dry=true"), before(true, None));
        assert_eq!(of("dry=false&expect=0"), before(false, Some(0)));
        assert_eq!(of("%64ry=true&expect=12"), before(true, Some(12)));
        for wrong in ["dry", "dry=1", "dry=True", "expect", "expect=-1", "expect=+1", "expect=1.5"]
        {
            assert_eq!(of(wrong), Err(Code::InvalidQuery), "{wrong}");
        }
    }
}
