//! The figures of days and hours, as JSON or CSV.

use std::io;
use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tidings_api::figures::{Figures, csv};
use tidings_config::wording::{did_you_mean, one_of, quoted};
use tidings_core::engine::{FiguresQuery, FiguresReport, GroupBy, Measure};
use tidings_core::model::ChannelNo;
use tidings_core::{Day, Id};
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::query::Parameters;
use crate::v1::tenants;
use crate::{Answer, Service};

/// Number of days that are shown if none are named, with today.
const DAYS_USUAL: i32 = 28;

/// The most days of one answer: as many as may be kept.
const DAYS_MAX: i32 = 3_650;

/// The most rows of one answer: some 100 MB.
const ROWS_MAX: usize = 100_000;

/// The calls of figures.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("figures", routes!(figures))
}

/// The choice of figures.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct FiguresParameters {
    /// First day in UTC; 27 days before today if absent.
    #[param(value_type = Option<String>, format = Date)]
    from: Option<Day>,
    /// The day after the last; tomorrow if absent.
    #[param(value_type = Option<String>, format = Date)]
    to: Option<Day>,
    /// Parts by which rows are told apart, with commas: `type`, `category`, `channel`, `tenant`, and one of `hour` and
    /// `day`. One row of all if absent. Hours are kept for 7 days. `tenant` can't be combined with `type`, `category` or
    /// `hour`.
    #[param(value_type = Option<String>)]
    by: Vec<GroupBy>,
    /// Only this channel.
    #[param(value_type = Option<String>)]
    channel: Option<ChannelNo>,
    /// Only this type.
    #[param(rename = "type", value_type = Option<String>, min_length = 1, max_length = 256)]
    kind: Option<Id>,
    /// Only this tenant.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Id>,
    /// Measures, with commas; all if absent.
    #[param(value_type = Option<String>)]
    measure: Vec<Measure>,
}

/// The names of the parameters.
const KNOWN: [&str; 7] = ["from", "to", "by", "channel", "type", "tenant", "measure"];

impl FromRequestParts<Arc<Service>> for FiguresParameters {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let query = Parameters::of_list(parts, service, [&KNOWN, &[]], &[]).await?;
        let rules = service.rules();
        let day = |name| query.parsed(name, Day::parse, "a date such as `2024-03-07`");
        Ok(Self {
            from: day("from")?,
            to: day("to")?,
            by: words(&query, "by", &GroupBy::ALL.map(|by| (by.word(), by)))?,
            channel: query.configured_channel("channel", &rules)?,
            kind: query.configured_type("type", &rules)?,
            tenant: query.id("tenant")?,
            measure: words(&query, "measure", &Measure::ALL.map(|of| (of.word(), of)))?,
        })
    }
}

/// Several words with commas, none of them twice.
fn words<T: Copy>(query: &Parameters, name: &str, known: &[(&str, T)]) -> Result<Vec<T>, Problem> {
    let given: Vec<&str> = query.text(name).into_iter().flat_map(|text| text.split(',')).collect();
    let names: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
    let word = |(at, word): (usize, &&str)| {
        if given[..at].contains(word) {
            let detail = format!("`{name}` has {} twice", quoted(word));
            return Err(wrong(detail).hint("keep one of the two"));
        }
        let found = known.iter().find(|(known, _)| known == word).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let detail = format!("`{name}` must be of {}, got {}", one_of(&names), quoted(word));
            wrong(detail).hint(did_you_mean(word, names.iter().copied()).unwrap_or_default())
        })
    };
    given.iter().enumerate().map(word).collect()
}

impl FiguresParameters {
    /// The question that they ask at an instant.
    fn query(self, today: Day) -> Result<FiguresQuery, Problem> {
        let Self { from, to, by, channel, kind, tenant, measure } = self;
        let newest = from.map_or(today, |from| from.max(today));
        let to = to.unwrap_or(Day(newest.0.saturating_add(1)));
        let from = from.unwrap_or(Day(to.0.saturating_sub(DAYS_USUAL)));
        if from >= to {
            let detail = format!("`from` must be before `to`, got {from} and {to}");
            return Err(wrong(detail).hint("`to` is the day after the last"));
        }
        if to.0.saturating_sub(from.0) > DAYS_MAX {
            let detail = format!("`from` and `to` are more than {DAYS_MAX} days apart");
            return Err(wrong(detail).hint("ask for fewer days at once"));
        }
        if by.contains(&GroupBy::Hour) && by.contains(&GroupBy::Day) {
            let detail = "`by` has both `hour` and `day`".to_owned();
            return Err(wrong(detail).hint("keep one of the two: an hour names its day"));
        }
        let measures = if measure.is_empty() { Measure::ALL.to_vec() } else { measure };
        let event_type = kind.map(|kind| kind.as_str().to_owned());
        let rows_max = ROWS_MAX;
        let query =
            FiguresQuery { days: from..to, by, channel, event_type, tenant, measures, rows_max };
        if query.is_of_tenants() && query.is_of_types() {
            let detail = "figures of tenants are not kept by type, category or hour".to_owned();
            return Err(wrong(detail).hint("leave `tenant` out, or `type`, `category` and `hour`"));
        }
        Ok(query)
    }
}

fn wrong(detail: String) -> Problem {
    Problem::new(Code::InvalidQuery, detail)
}

/// Get figures
///
/// Returns what was published, told, seen and muted, by day or hour in UTC. Figures outlive the days themselves: they are
/// kept for `[figures] keep`. With `Accept: text/csv` the rows are a table. There are at most 100,000 rows.
#[utoipa::path(
    get, path = "/v1/admin/figures", tag = "admin",
    params(FiguresParameters),
    responses((status = 200, description = "The figures", content(
        (Figures = "application/json"),
        (String = "text/csv", example = "day,type,items\r\n2026-11-01,comment,3120\r\n")
    )))
)]
async fn figures(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    parameters: FiguresParameters,
) -> Result<Response, Problem> {
    let today = service.now().day();
    let query = parameters.query(today)?;
    if let Some(tenant) = &query.tenant {
        tenants::known_if_named(&service, Some(tenant)).await?;
    }
    let read = query.clone();
    let report: FiguresReport =
        service.look(move |node| node.engine().reader(node.view()).figures(&read, today)).await??;
    if report.is_too_large {
        let detail = format!("the figures have more than {ROWS_MAX} rows");
        return Err(wrong(detail).hint("ask for fewer days, or for fewer parts in `by`"));
    }
    let shown = Figures::of(&query, report);
    if !wants_csv(&headers) {
        return Ok(Answer::json(StatusCode::OK, &shown)?.into_response());
    }
    let table = serde_json::to_value(&shown.rows).map_err(io::Error::from).and_then(|rows| {
        csv(&query.by, &query.measures, rows.as_array().map_or(&[], Vec::as_slice))
    });
    let table = table.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let of_table = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
    Ok((of_table, table).into_response())
}

/// Returns true if a table is asked for before anything else.
fn wants_csv(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    let mut kinds = accept.flat_map(|accept| accept.split(','));
    kinds.next().is_some_and(|first| {
        first.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/csv"))
    })
}

#[cfg(test)]
mod tests;
