//! Lists: the query that all of them share, their cursors, and pages of several nodes as one.
//!
//! A cursor is the position of a row with a hash of the list, its filter and that position: what another list or
//! filter gave, or nobody, is refused. The hash is no secret; a cursor opens nothing that the list doesn't show.

use std::fmt::Display;
use std::future::Future;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidings_core::engine::{ListPage, Positioned};
use tidings_core::{Instant, Rules};
use xxhash_rust::xxh3::xxh3_64;

use crate::answer::Answer;
use crate::error::{Code, Problem};
use crate::request::gather::OtherShards;
use crate::request::query::Parameters;
use crate::service::Service;

/// Default number of rows of a page.
const ROWS_USUAL: u16 = 50;
/// Maximum number of rows of a page.
const ROWS_MAX: u16 = 500;

/// The parameters that every list has.
const OF_ALL: [&str; 2] = ["limit", "cursor"];

/// The part of a list that a call asks for, for the document.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document reads it; `ListPageQuery` reads the query")]
pub(crate) struct ListQuery {
    /// Maximum number of rows; 50 if absent.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u16>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    cursor: Option<String>,
}

/// A reader of a list's filter.
pub(crate) trait ListFilter: Sized {
    /// The filter's parameters.
    const KNOWN: &'static [&'static str];
    /// Parameters that may be given several times.
    const REPEATED: &'static [&'static str] = &[];

    /// Reads them; others were refused before, and empty ones.
    ///
    /// # Errors
    /// [`Code::InvalidQuery`], with what was expected and what was got.
    fn read(query: &Parameters, rules: &Rules) -> Result<Self, Problem>;
}

/// The query of a list whose rows have positions `P`: its filter and the part that is asked for.
pub(crate) struct ListPageQuery<F, P> {
    /// The filter.
    pub(crate) filter: F,
    /// The part of the list.
    pub(crate) pages: PageBounds<P>,
}

/// The part of a list that a query asks for, at most `most` rows after a position.
#[derive(Clone, Debug)]
pub(crate) struct PageBounds<P> {
    /// Maximum number of rows.
    pub(crate) most: usize,
    /// The position after which the page begins.
    pub(crate) after: Option<P>,
    /// The hash of the list and its filter.
    list: u64,
}

/// The body of a page of a list.
pub(crate) trait PageBody: Serialize {
    /// A row.
    type Row: Positioned;

    /// The rows, and the next page's cursor.
    fn into_parts(self) -> (Vec<Self::Row>, Option<String>);

    /// A page; `missing` = the nodes that did not answer.
    fn of(rows: Vec<Self::Row>, next: Option<String>, missing: Option<Vec<String>>) -> Self;
}

/// Declares the body of a page, with the name of its rows.
macro_rules! page_body {
    ($(#[$about:meta])* $name:ident { $(#[$about_rows:meta])* $rows:ident: $row:ty }) => {
        #[derive(::serde::Serialize, ::serde::Deserialize, ::utoipa::ToSchema)]
        $(#[$about])*
        struct $name {
            $(#[$about_rows])*
            $rows: Vec<$row>,
            /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
            /// since a page looks at a bounded number of rows.
            #[schema(required)]
            next: Option<String>,
            /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schema(nullable = false)]
            missing: Option<Vec<String>>,
        }

        impl $crate::request::list::PageBody for $name {
            type Row = $row;

            fn into_parts(self) -> (Vec<$row>, Option<String>) {
                (self.$rows, self.next)
            }

            fn of(rows: Vec<$row>, next: Option<String>, missing: Option<Vec<String>>) -> Self {
                Self { $rows: rows, next, missing }
            }
        }
    };
}
pub(crate) use page_body;

impl ListFilter for () {
    const KNOWN: &'static [&'static str] = &[];

    fn read(_: &Parameters, _: &Rules) -> Result<Self, Problem> {
        Ok(())
    }
}

impl<P: Clone + Ord + Display + FromStr> PageBounds<P> {
    /// The cursor of a position.
    fn cursor(&self, position: &P) -> String {
        let position = position.to_string();
        let hash = self.hash(&position);
        URL_SAFE_NO_PAD.encode(format!("{hash:08x}{position}"))
    }

    /// The position of a cursor; `None` = it is none of this list and filter.
    fn position(&self, cursor: &str) -> Option<P> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (hash, position) = text.split_at_checked(8)?;
        let is_own = hash == format!("{:08x}", self.hash(position));
        position.parse().ok().filter(|_| is_own)
    }

    fn hash(&self, position: &str) -> u32 {
        let hash = xxh3_64(format!("{:016x}{position}", self.list).as_bytes());
        u32::try_from(hash >> 32).unwrap_or_default()
    }

    /// The body of this node's page.
    pub(crate) fn body<B>(&self, page: ListPage<B::Row>, missing: Option<Vec<String>>) -> B
    where
        B: PageBody,
        B::Row: Positioned<Position = P>,
    {
        let next = page.next.map(|next| self.cursor(&next));
        B::of(page.rows, next, missing)
    }

    /// The answer of a list of which this node has all.
    ///
    /// # Errors
    /// [`Code::Internal`] where the page is no JSON: a defect.
    pub(crate) fn answer<B>(&self, page: ListPage<B::Row>) -> Result<Answer, Problem>
    where
        B: PageBody,
        B::Row: Positioned<Position = P>,
    {
        Answer::json(StatusCode::OK, &self.body::<B>(page, None))
    }

    /// The answer of a list of which other nodes have parts: their pages and this node's as one.
    ///
    /// # Errors
    /// Those of this node's page. Nodes that don't answer are named in the answer.
    pub(crate) async fn gathered<B>(
        &self,
        own: impl Future<Output = Result<ListPage<B::Row>, Problem>>,
        others: &OtherShards,
    ) -> Result<Answer, Problem>
    where
        B: PageBody + DeserializeOwned,
        B::Row: Positioned<Position = P>,
    {
        if others.is_none() {
            return self.answer::<B>(own.await?);
        }
        let (own, mut gathered) = tokio::join!(own, others.gather::<B>());
        let page = self.merged(own?, std::mem::take(&mut gathered.found));
        Answer::json(StatusCode::OK, &self.body::<B>(page, gathered.missing()))
    }

    /// One page of this node's and those of others.
    pub(crate) fn merged<B>(&self, own: ListPage<B::Row>, others: Vec<B>) -> ListPage<B::Row>
    where
        B: PageBody,
        B::Row: Positioned<Position = P>,
    {
        let of_node = |body: B| {
            let (rows, next) = body.into_parts();
            ListPage { rows, next: next.and_then(|next| self.position(&next)) }
        };
        let pages = others.into_iter().map(of_node).chain([own]);
        ListPage::merged(pages.collect(), self.most)
    }
}

/// The hash of a list and its filter: of the path and all parameters but those that choose a page.
fn hash_of(parts: &Parts, query: &Parameters) -> u64 {
    let mut filter: Vec<(&str, &str)> =
        query.all().filter(|(name, _)| !OF_ALL.contains(name)).collect();
    filter.sort_unstable();
    let path = percent_decode_str(parts.uri.path()).decode_utf8_lossy();
    let mut list = path.into_owned();
    for (name, value) in filter {
        // No path or value has a line break: ids have no control characters, and words none either.
        list.push_str(&format!("\n{name}={value}"));
    }
    xxh3_64(list.as_bytes())
}

impl<F: ListFilter, P: Clone + Ord + Display + FromStr> FromRequestParts<Arc<Service>>
    for ListPageQuery<F, P>
{
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let query = Parameters::of_list(parts, service, [F::KNOWN, &OF_ALL], F::REPEATED).await?;
        let most = query.whole_number("limit", 1..=ROWS_MAX)?.unwrap_or(ROWS_USUAL);
        let list = hash_of(parts, &query);
        let mut pages = PageBounds { most: usize::from(most), after: None, list };
        let filter = F::read(&query, &service.rules())?;
        if let Some(cursor) = query.text("cursor") {
            let detail = "`cursor` is no `next` of this list with this filter";
            let after = pages.position(cursor);
            pages.after = Some(after.ok_or_else(|| Problem::new(Code::BadCursor, detail))?);
        }
        Ok(Self { filter, pages })
    }
}

/// The instants between which rows are listed: the first is in it, and the last is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InstantRange {
    /// The first instant; `None` = from the beginning.
    pub(crate) from: Option<Instant>,
    /// The first instant after it; `None` = without an end.
    pub(crate) to: Option<Instant>,
}
impl InstantRange {
    /// Reads `from` and `to`.
    ///
    /// # Errors
    /// [`Code::InvalidQuery`].
    pub(crate) fn read(query: &Parameters) -> Result<Self, Problem> {
        Ok(Self { from: query.instant("from")?, to: query.instant("to")? })
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::Id;
    use tidings_core::engine::NewestFirst;

    use super::*;

    fn pages(list: u64) -> PageBounds<NewestFirst> {
        PageBounds { most: 1, after: None, list }
    }

    #[test]
    fn a_cursor_is_of_one_list_and_filter() {
        let position =
            NewestFirst { at: Instant(1_709_798_580_000), id: Id::new("e/ä 1").unwrap() };
        let cursor = pages(7).cursor(&position);
        assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        assert_eq!(pages(7).position(&cursor), Some(position.clone()));
        assert_eq!(pages(8).position(&cursor), None);
        let shorter = &cursor[..cursor.len() - 1];
        let other = URL_SAFE_NO_PAD.encode(format!("00000000{position}"));
        for odd in ["", "x", "ä", shorter, &other, &format!("{cursor}A")] {
            assert_eq!(pages(7).position(odd), None, "{odd}");
        }
    }
}
