//! Changes in two steps: a page that says what a call would do, and a form that does it.
//!
//! `GET …/VERB` makes the call with `dry`. Its page says how many messages and people it concerns, and its form has
//! that number as `expect`, so a set that has grown in between is refused instead of changed.

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::Call;
use crate::console::Console;
use crate::form::PostedForm;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::viewer::Viewer;

/// From this number of people on it has to be typed.
const TYPED_FROM: u64 = 100;

/// A call that changes something, in two steps: it says what it would do, then it is made.
pub(crate) struct CountedCall {
    /// The call, without `dry` and `expect`.
    pub(crate) call: Call,
    /// False for a call that takes neither.
    pub(crate) is_counted: bool,
}

impl CountedCall {
    /// What the call would do; null where it can't say so.
    ///
    /// # Errors
    /// The refusal of the call.
    pub(crate) async fn ask(
        &self,
        console: &Console,
        viewer: &Viewer,
    ) -> Result<Value, CallProblem> {
        match self.is_counted {
            true => console.call(viewer, self.call.clone().dry()).await,
            false => Ok(Value::Null),
        }
    }

    /// Makes the call, unless it concerns more people than the first step said.
    ///
    /// # Errors
    /// The refusal of the call: `grew` if there are more people.
    pub(crate) async fn make(
        self,
        console: &Console,
        viewer: &Viewer,
        people: Option<u64>,
    ) -> Result<Value, CallProblem> {
        let call = match people.filter(|_| self.is_counted) {
            Some(people) => self.call.expecting(people),
            None => self.call,
        };
        console.call(viewer, call).await
    }
}

/// A change that a viewer may make.
pub(crate) struct TwoStepChange {
    /// The call that makes it, without `dry` and `expect`.
    pub(crate) call: Call,
    /// The verb of its button, as "Retry".
    pub(crate) verb: &'static str,
    /// Its subject, by id: "message 01J…", "312 messages of this list".
    pub(crate) what: String,
    /// The page that it belongs to, below the base; where its form is sent has the verb behind it.
    pub(crate) back: String,
    /// The URL of its form, below the base.
    pub(crate) action: String,
    pub(crate) section: BarSection,
    /// False for a call that takes neither `dry` nor `expect`.
    pub(crate) is_counted: bool,
}

/// The form of the second step.
#[derive(Debug, Default)]
pub(crate) struct ChangeForm {
    /// The number of people that the first step has named.
    pub(crate) expect: Option<u64>,
    /// The same, typed by hand.
    pub(crate) typed: Option<String>,
}

impl<S: Send + Sync> FromRequest<S> for ChangeForm {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let form = PostedForm::from_request(request, state).await?;
        let expect = form.get("expect").and_then(|expect| expect.parse().ok());
        Ok(Self { expect, typed: form.get("typed").map(str::to_owned) })
    }
}

impl TwoStepChange {
    /// The first step: the page that says what the change would do.
    ///
    /// # Errors
    /// The refusal of the call.
    pub(crate) async fn ask(
        &self,
        console: &Console,
        viewer: &Viewer,
    ) -> Result<Page, CallProblem> {
        let answer = self.counted().ask(console, viewer).await?;
        Ok(self.page(&answer, None))
    }

    /// The second step: makes the change. The page to show instead is that of a set that has grown, or of a number
    /// that was not typed.
    ///
    /// # Errors
    /// The refusal of the call.
    pub(crate) async fn make(
        &self,
        console: &Console,
        viewer: &Viewer,
        form: &ChangeForm,
    ) -> Result<Made, CallProblem> {
        if self.is_counted {
            let Some(expect) = form.expect else {
                let detail = "the form lacks `expect`, the number of people";
                return Err(CallProblem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "not_typed",
                    detail,
                ));
            };
            let typed = form.typed.as_deref().map(|typed| typed.replace([',', ' '], ""));
            if expect >= TYPED_FROM && typed.as_deref() != Some(expect.to_string().as_str()) {
                let answer = self.counted().ask(console, viewer).await?;
                let mut page = self.page(&answer, Some("Type the number of people to go on."));
                page.status = StatusCode::UNPROCESSABLE_ENTITY;
                return Ok(Made::Asked(page));
            }
        }
        match self.counted().make(console, viewer, form.expect).await {
            Ok(answer) => Ok(Made::Done(answer)),
            Err(problem) if problem.code() == "grew" => {
                let answer = self.counted().ask(console, viewer).await?;
                let more = "It concerns more people than when you looked. Nothing has changed.";
                let mut page = self.page(&answer, Some(more));
                page.status = StatusCode::CONFLICT;
                Ok(Made::Asked(page))
            }
            Err(problem) => Err(problem),
        }
    }

    /// The call on its own.
    fn counted(&self) -> CountedCall {
        CountedCall { call: self.call.clone(), is_counted: self.is_counted }
    }

    fn page(&self, answer: &Value, note: Option<&str>) -> Page {
        let concerns = &answer["concerns"];
        let people = concerns["people"].as_u64();
        let values = context! {
            verb => self.verb, what => &self.what, back => &self.back, action => &self.action,
            people, messages => concerns["messages"].as_u64(), entries => concerns["entries"].as_u64(),
            is_counted => self.is_counted,
            left_out => left_out(answer), of => answer["of"].as_u64(), note,
            is_typed => people.is_some_and(|people| people >= TYPED_FROM),
        };
        Page::new(self.section, format!("{} {}", self.verb, self.what), "change.html").with(values)
    }
}

/// The result of a second step.
pub(crate) enum Made {
    /// It is done: the answer of the call.
    Done(Value),
    /// It is not: a page asks again.
    Asked(Page),
}

impl Made {
    /// The same with another page, if one asks again.
    pub(crate) fn on_page(self, page: impl FnOnce(Page) -> Page) -> Self {
        match self {
            Self::Asked(again) => Self::Asked(page(again)),
            Self::Done(answer) => Self::Done(answer),
        }
    }
}

/// The answer to a second step: once it is done, the way to a page below the base.
pub(crate) fn answered(
    made: Result<Made, CallProblem>,
    console: &Console,
    viewer: &Viewer,
    to: impl FnOnce(&Value) -> String,
) -> Response {
    match made {
        Ok(Made::Done(answer)) => {
            Redirect::to(&format!("{}{}", console.base(), to(&answer))).into_response()
        }
        Ok(Made::Asked(page)) => page.write(console, viewer),
        Err(problem) => Page::of_problem(&problem).write(console, viewer),
    }
}

/// The reasons why something is left out, with their numbers, the largest first.
pub(crate) fn left_out(answer: &Value) -> Vec<Shown> {
    let mut rows: Vec<(&String, u64)> = answer["left_out"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(reason, count)| Some((reason, count.as_u64()?)))
        .collect();
    rows.sort_by_key(|(reason, count)| (std::cmp::Reverse(*count), reason.as_str().to_owned()));
    // A cancel has the number of what it can't take back beside.
    let too_late = answer["too_late"].as_u64().filter(|count| *count > 0);
    let too_late = too_late.map(|count| context! { reason => "too_late", count });
    rows.into_iter().map(|(reason, count)| context! { reason, count }).chain(too_late).collect()
}
