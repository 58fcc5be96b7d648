//! People: the list of recipients, by the begin of their id, tenant and state.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};

use crate::call::Call;
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::viewer::Viewer;

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/people", get(list))
}

async fn list(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    query: Query,
) -> Response {
    written(page(&console, &viewer, &query).await, &console, &viewer)
}

async fn page(console: &Console, viewer: &Viewer, query: &Query) -> Result<Page, CallProblem> {
    let form = context! {
        id_prefix => query.text("id_prefix"), tenant => query.text("tenant"),
        state => query.text("state"), states => ["active", "unconfirmed", "disabled"],
    };
    let answer = match console.call(viewer, query.onto(Call::get(&["recipients"]))).await {
        Ok(answer) => answer,
        Err(problem) if problem.status == StatusCode::BAD_REQUEST => {
            return Ok(refused(BarSection::People, "People", "people.html", &problem, form));
        }
        Err(problem) => return Err(problem),
    };
    let values = context! {
        people => Serde(&answer["recipients"]),
        answer => context! { missing => Serde(&answer["missing"]) },
        next => query.next_url("/people", &answer), is_unfiltered => query.is_unfiltered(),
        is_first => query.get("cursor").is_none(), ..form
    };
    Ok(Page::new(BarSection::People, "People", "people.html").with(values))
}

/// The page of a list whose filters the API refuses. What was asked stays in its form, so that it can be mended.
pub(crate) fn refused(
    section: BarSection,
    title: &str,
    template: &'static str,
    problem: &CallProblem,
    form: Shown,
) -> Page {
    let said = context! { detail => problem.text("detail"), hint => problem.text("hint") };
    let page = Page::new(section, title, template).with(context! { problem => said, ..form });
    Page { status: problem.status, ..page }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fake::Fake;

    #[tokio::test]
    async fn names_are_masked_but_for_whom_the_viewer_has_opened() {
        let people = json!({"recipients": [
            {"id": "ana", "name": "Ana Ruiz", "state": "active"},
            {"id": "<i>ben", "name": "<script>alert(1)</script> Okafor", "state": "disabled", "tenants": ["a&b"]},
        ], "next": "c+1"});
        let fake = Fake::default().on("GET /v1/recipients?state=active", people).opened("ana");
        let shown = fake.page("read", "/people?state=active&tenant=", None).await;
        shown.has(&[
            "Ana Ruiz",
            "&lt;•••••••••••••••••••••••• O•••••",
            "&lt;i&gt;ben",
            "/console/people/%3Ci%3Eben",
            "/console/people?tenant=a%26b",
            "/console/people?state=active&amp;cursor=c%2B1",
            "<option selected>active</option>",
        ]);
        shown.lacks(&["alert(1)", "Okafor", "<i>ben"]);
    }

    #[tokio::test]
    async fn a_wrong_filter_is_400_with_the_nearest_and_stays_in_the_form() {
        let hint = "did you mean `active`?";
        let fake =
            Fake::default().refuse("GET /v1/recipients?state=activ", 400, "invalid_query", hint);
        let shown = fake.page("read", "/people?state=activ", None).await;
        assert_eq!(shown.status, StatusCode::BAD_REQUEST);
        shown.has(&["did you mean <code><bdi>active</bdi></code>?", "name=\"state\""]);
    }
}
