//! Figures: how many of what, by type, channel, tenant or day, and what disturbs people.

mod columns;
mod csv;
mod days;
mod period;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::Call;
use crate::console::Console;
use crate::page::{BarSection, Page, link};
use crate::plot::sparkline;
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::viewer::Viewer;

use columns::{Column, noise};
use period::Period;

/// The groupings of rows, with the words of the form.
const BY: [(&str, &str); 9] = [
    ("type", "type"),
    ("category", "category"),
    ("channel", "channel"),
    ("tenant", "tenant"),
    ("type,channel", "type and channel"),
    ("day", "day"),
    ("type,day", "type and day"),
    ("channel,day", "channel and day"),
    ("hour", "hour"),
];

/// The parameters that the API knows; `compare` is the page's own.
const COMPARE: &str = "compare";

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/figures", get(show)).route("/figures.csv", get(save))
}

async fn show(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    query: Query,
) -> Response {
    written(page(&console, &viewer, &query).await, &console, &viewer)
}

/// The same rows as a file.
async fn save(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    query: Query,
) -> Response {
    match console.call(&viewer, call(&query, by(&query))).await {
        Ok(answer) => {
            let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8");
            let name = (header::CONTENT_DISPOSITION, "attachment; filename=\"figures.csv\"");
            ([kind, name], csv::written(&answer["rows"], by(&query))).into_response()
        }
        Err(problem) => Page::of_problem(&problem).write(&console, &viewer),
    }
}

/// The keys of the rows.
fn by(query: &Query) -> &str {
    query.get("by").unwrap_or("type")
}

/// The call with all that the URL says.
fn call(query: &Query, by: &str) -> Call {
    query.without(COMPARE).with("by", by).onto(Call::get(&["admin", "figures"]))
}

async fn page(console: &Console, viewer: &Viewer, query: &Query) -> Result<Page, CallProblem> {
    let types = console.call(viewer, Call::get(&["types"])).await.unwrap_or_default();
    if let Some(other) = query.get(COMPARE).filter(|compare| *compare != "previous") {
        let mut problem = CallProblem::new(
            axum::http::StatusCode::BAD_REQUEST,
            "invalid_query",
            format!("`compare` must be `previous`, got `{other}`"),
        );
        problem.body["hint"] = "Example: `compare=previous`".into();
        return Ok(refused(&problem, query, &types));
    }
    let by = by(query);
    let answer = match console.call(viewer, call(query, by)).await {
        Ok(answer) => answer,
        Err(problem) if problem.status.as_u16() == 400 => {
            return Ok(refused(&problem, query, &types));
        }
        Err(problem) => return Err(problem),
    };
    let period = Period::of(&answer);
    let before = match (query.get(COMPARE), period.as_ref().and_then(Period::previous)) {
        (Some(_), Some(before)) => {
            let query =
                query.with("from", &before.from.to_string()).with("to", &before.to.to_string());
            Some((console.call(viewer, call(&query, by)).await?, before))
        }
        _ => None,
    };
    let is_by_time = by.split(',').any(|key| key == "day" || key == "hour");
    let daily = match is_by_time {
        true => None,
        // One row more a day: the lines, and the bars below.
        false => Some(console.call(viewer, daily_call(query, by)).await?),
    };
    let rows = rows(
        &answer,
        daily.as_ref(),
        before.as_ref().map(|(answer, _)| answer),
        by,
        console.base(),
    );
    let drawn = daily.as_ref().unwrap_or(&answer);
    let plot = days::plot(drawn, period.as_ref(), console.base(), query);
    let values = context! {
        answer => Serde(&answer), rows, loudest => loudest(&answer, by),
        heads => columns::heads(&answer["rows"]),
        keys => by.split(',').map(str::to_owned).collect::<Vec<_>>(), has_lines => daily.is_some(),
        totals => columns::totals(&answer["rows"]),
        period => period.as_ref().map(Period::words),
        before => before.as_ref().map(|(_, period)| period.words()),
        gaps => period::ranges(&answer["days_without"]),
        plot, csv => query.without(COMPARE).url("/figures.csv"),
        ..form(query, &types)
    };
    Ok(Page::new(BarSection::Figures, "Figures", "figures.html").with(values))
}

/// The page of a refused filter: the form stays as it was filled in.
fn refused(problem: &CallProblem, query: &Query, types: &Value) -> Page {
    let problem_shown = context! { detail => problem.text("detail"), hint => problem.text("hint") };
    let values = context! { problem => problem_shown, ..form(query, types) };
    let mut page = Page::new(BarSection::Figures, "Figures", "figures.html").with(values);
    page.status = problem.status;
    page
}

fn form(query: &Query, types: &Value) -> Shown {
    let names = |name: &str| -> Vec<String> {
        let all = types[name].as_object().into_iter().flatten();
        let configured = all.filter(|(_, one)| one["configured"] != Value::Bool(false));
        configured.map(|(name, _)| name.clone()).collect()
    };
    let options = BY.map(|(value, word)| context! { value, word });
    context! {
        from => query.text("from"), to => query.text("to"), by => by(query), options,
        is_known_by => BY.iter().any(|(value, _)| *value == by(query)),
        channel => query.text("channel"), channels => names("channels"),
        type => query.text("type"), types => names("types"),
        tenant => query.text("tenant"), measure => query.text("measure"),
        compare => query.text(COMPARE),
        problem => (),
    }
}

/// The call for the lines: what was sent, by day.
fn daily_call(query: &Query, by: &str) -> Call {
    call(&query.with("measure", "messages"), &format!("{by},day"))
}

/// The keys of a row, joined.
fn key(row: &Value, by: &str) -> String {
    let keys: Vec<&str> = by.split(',').map(|key| row[key].as_str().unwrap_or_default()).collect();
    keys.join("\n")
}

/// The rows of the table: keys, cells with their links, and a line by day.
fn rows(
    answer: &Value,
    daily: Option<&Value>,
    before: Option<&Value>,
    by: &str,
    base: &str,
) -> Vec<Shown> {
    let lines = daily.map(|daily| days::lines(daily, by)).unwrap_or_default();
    let before: BTreeMap<String, &Value> = before
        .and_then(|before| before["rows"].as_array())
        .into_iter()
        .flatten()
        .map(|row| (key(row, by), row))
        .collect();
    let median = columns::median_noise(&answer["rows"]);
    let rows = answer["rows"].as_array().into_iter().flatten();
    rows.map(|row| {
        let line = lines.get(&key(row, by)).map(|line| sparkline(line));
        let former = before.get(&key(row, by)).copied();
        let filter = columns::filter(row, by, answer);
        let cells: Vec<Shown> = Column::of(&answer["rows"])
            .map(|column| {
                column.cell(row, former, !before.is_empty(), filter.as_deref(), base, median)
            })
            .collect();
        let names: Vec<Shown> = by
            .split(',')
            .map(|key| {
                let name = row[key].as_str().unwrap_or_default();
                let href = match key {
                    "type" => {
                        Some(link(base, &format!("/types/{}", crate::call::encoded(name)), &[]))
                    }
                    _ => None,
                };
                context! { name, href, key }
            })
            .collect();
        context! { names, cells, line }
    })
    .collect()
}

/// The row that disturbs most, if it stands out.
fn loudest(answer: &Value, by: &str) -> Option<Shown> {
    let rows = answer["rows"].as_array()?;
    let median = columns::median_noise(&answer["rows"])?;
    let (row, most) = rows
        .iter()
        .filter_map(|row| Some((row, noise(row)?)))
        .max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let name = by
        .split(',')
        .map(|key| row[key].as_str().unwrap_or_default())
        .collect::<Vec<_>>()
        .join(", ");
    columns::is_loud(most, median).then(|| context! { name, noise => columns::tenths(most) })
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use serde_json::json;

    use super::*;
    use crate::fake::Fake;

    fn answer(from: &str, to: &str, sent: u64) -> Value {
        json!({
            "from": from, "to": to, "zone": "UTC", "complete_to": "2026-11-28T21:00:00Z",
            "days_without": ["2026-11-01", "2026-11-02"],
            "rows": [{"type": "a<b>", "events": 3, "messages": {"sent": sent, "failed": 2, "suppressed": 0}}],
        })
    }

    fn server() -> Fake {
        let daily = json!({
            "from": "2026-11-01", "to": "2026-11-29", "days_without": ["2026-11-01", "2026-11-02"],
            "rows": [
                {"type": "a<b>", "day": "2026-11-03", "messages": {"sent": 5, "failed": 0}},
                {"type": "a<b>", "day": "2026-11-04", "messages": {"sent": 7, "failed": 2}},
            ],
        });
        Fake::default()
            .on(
                "GET /v1/types",
                json!({"types": {"a<b>": {}}, "channels": {"sms": {"configured": false}}}),
            )
            .on("GET /v1/admin/figures?by=type", answer("2026-11-01", "2026-11-29", 150))
            .on("GET /v1/admin/figures?measure=messages&by=type%2Cday", daily)
            .on(
                "GET /v1/admin/figures?from=2026-10-04&to=2026-11-01&by=type",
                answer("2026-10-04", "2026-11-01", 100),
            )
    }

    #[tokio::test]
    async fn figures_are_compared_and_lead_to_their_lists_and_gaps_are_named() {
        let shown = server().page("figures", "/figures?compare=previous&tenant=", None).await;
        assert_eq!(shown.status, StatusCode::OK);
        shown.has(&[
            "150 messages were sent, 2 failed: 1 to 28 Nov 2026",
            "compared with 4 to 31 Oct 2026",
            "type=a%3Cb%3E&amp;from=2026-11-01T00%3A00%3A00Z&amp;to=2026-11-29T00%3A00%3A00Z&amp;state=sent\">150</a>",
            "+50\u{202f}%",
            "<svg class=\"spark\"",
            "At most 7 on 4 Nov; at most 2 on 4 Nov failed.",
            "No figures for 1 to 2 Nov 2026",
        ]);
        shown.lacks(&["a<b>", "<option>sms"]);
    }

    #[tokio::test]
    async fn a_wrong_filter_is_refused_with_its_hint_and_stays_in_the_form() {
        let call = "GET /v1/admin/figures?tpye=x&by=dya";
        let fake = server().refuse(call, 400, "invalid_query", "did you mean `day`?");
        let shown = fake.page("figures", "/figures?by=dya&tpye=x", None).await;
        assert_eq!(shown.status, StatusCode::BAD_REQUEST);
        shown.has(&["did you mean <code><bdi>day</bdi></code>?", "<option selected>dya</option>"]);
        let shown = server().page("figures", "/figures?compare=last", None).await;
        assert_eq!(shown.status, StatusCode::BAD_REQUEST);
        shown.has(&["Example: <code><bdi>compare=previous</bdi></code>"]);
    }

    #[tokio::test]
    async fn the_same_rows_are_a_file() {
        let shown = server().page("figures", "/figures.csv?compare=previous", None).await;
        assert!(shown.text.starts_with("type,"), "{}", shown.text);
        shown.has(&["a<b>,", ",150"]);
    }
}
