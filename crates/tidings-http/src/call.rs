//! Declaration of a call: handler, document and possible errors in one place.
//!
//! The route and its entry in the OpenAPI document come from the same declaration, so that they can't
//! differ. The errors that a call lists are checked where it answers: one that is not listed fails the test
//! that met it.

mod row;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use tidings_api::token::Token;
use tidings_config::wording::nearest;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    ContentBuilder, ObjectBuilder, OpenApi, Ref, RefOr, Response as Documented, ResponseBuilder,
    Type,
};
use utoipa_axum::router::UtoipaMethodRouter;
use xxhash_rust::xxh3::xxh3_64;

use super::Service;
use super::error::{Code, Problem, RetryAdvice};
use super::request::KEY_BYTES_MAX;
use super::request::caller::Caller;
use super::request::logged;
use super::request::roles::Roles;
use super::users::{ME, TWIN};
use crate::change::before;
use row::{CallRow, Callers};

const PROBLEM_JSON: &str = "application/problem+json";

/// The header of requests that are done once, and its name in the document.
const KEY: &str = "Idempotency-Key";

/// Responses of several calls, by name.
type SharedResponses = BTreeMap<String, RefOr<Documented>>;

/// Errors of every call.
const COMMON: &[Code] = &[Code::Unauthorized, Code::Busy, Code::Internal];

/// Errors of every call of end users.
const COMMON_OF_USERS: &[Code] = &[
    Code::TokenMissing,
    Code::TokenMalformed,
    Code::TokenKey,
    Code::TokenSignature,
    Code::TokenTenant,
    Code::TokenTooLong,
    Code::TokenNotYet,
    Code::TokenExpired,
    Code::TokenRevoked,
    Code::UsersOff,
    Code::Scope,
    Code::Busy,
    Code::Internal,
];

/// Errors of calls that read the node.
const ASKS: &[Code] = &[
    Code::TooBusy,
    Code::Unavailable,
    Code::TimedOut,
    Code::NoHolder,
    Code::HolderLost,
    Code::Stopping,
];

/// Errors of calls that change something.
const CHANGES: &[Code] = &[
    Code::InvalidHeader,
    Code::InvalidRequest,
    Code::RequestTimeout,
    Code::BodyTooLarge,
    Code::IdempotencyKeyReused,
    Code::StoreFull,
    Code::OutcomeUnknown,
];

/// Errors in the lines of a stream, beside those of the call for a single item.
const IN_LINES: &[Code] = &[
    Code::InvalidJson,
    Code::InvalidBody,
    Code::BodyTooLarge,
    Code::InvalidRequest,
    Code::RequestTimeout,
    Code::TooBusy,
    Code::Busy,
    Code::Unavailable,
    Code::StoreFull,
    Code::OutcomeUnknown,
    Code::TimedOut,
    Code::NoHolder,
    Code::HolderLost,
    Code::Stopping,
];

/// Errors of calls whose query may name a tenant.
const QUERIES_TENANT: &[Code] = &[Code::InvalidQuery, Code::UnknownTenant, Code::TenantsOff];

/// The kind of a call, which determines its general errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// The call needs no key, and lists all its errors.
    Open,
    /// The call uses only the server's own data.
    Knows,
    /// The call reads the node.
    Looks,
    /// The call changes the node.
    Changes,
    /// The same; it takes `dry` and `expect`.
    ChangesDry,
}

impl CallKind {
    fn codes(self) -> impl Iterator<Item = Code> {
        let of: [&[Code]; 3] = match self {
            Self::Open => [&[]; 3],
            Self::Knows => [COMMON, &[], &[]],
            Self::Looks => [COMMON, ASKS, &[]],
            Self::Changes | Self::ChangesDry => [COMMON, ASKS, CHANGES],
        };
        let before: &[Code] = match self {
            Self::Changes => &[Code::NoDry],
            Self::ChangesDry => &[Code::InvalidQuery, Code::Grew],
            Self::Open | Self::Knows | Self::Looks => &[],
        };
        of.into_iter().flatten().chain(before).copied()
    }

    /// Returns true if the call changes the node.
    fn changes(self) -> bool {
        matches!(self, Self::Changes | Self::ChangesDry)
    }
}

/// Calls under construction.
pub(super) struct Calls {
    names: Vec<&'static str>,
    router: Router<Arc<Service>>,
    document: OpenApi,
}

/// The name of the response's call, for measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CallName(pub(super) &'static str);

impl Calls {
    /// Starts without calls; `document` has the general parts.
    pub(super) fn new(mut document: OpenApi) -> Self {
        let components = document.components.get_or_insert_default();
        let headers = headers().map(|(name, header)| (name.to_owned(), header.into()));
        components.headers.extend(headers);
        components.parameters.insert(KEY.to_owned(), idempotency_key().into());
        let before = before::parameters().map(|(name, of)| (name.to_owned(), of.into()));
        components.parameters.extend(before);
        Self { names: Vec::new(), router: Router::new(), document }
    }

    /// Adds one call, made with `utoipa_axum::routes!(handler)`. `calls.tsv` has the rest by its name.
    ///
    /// # Panics
    /// It has no row, as each test of the API would find.
    pub(super) fn add(
        mut self,
        name: &'static str,
        (schemas, paths, methods): UtoipaMethodRouter<Arc<Service>>,
    ) -> Self {
        let row = CallRow::of(name);
        let Callers::Keys(roles) = &row.callers else { return self };
        let of_role = (!roles.are_all()).then_some(Code::Role);
        let listed = row.kind.codes().chain(of_role).chain(row.codes.iter().copied()).collect();
        let methods = methods.layer(middleware::from_fn(move |request: Request, next: Next| {
            let caller = request.extensions().get::<Arc<Caller>>().cloned();
            async move {
                let Some(caller) = caller else {
                    return next.run(request).await;
                };
                if roles.allow(caller.role) {
                    return next.run(request).await;
                }
                let detail = roles.lacking(caller.role);
                Problem::new(Code::Role, detail).into_response()
            }
        }));
        self.add_listed(name, row, (schemas, paths, methods), listed);
        self
    }

    fn add_listed(
        &mut self,
        name: &'static str,
        CallRow { kind, callers, .. }: &CallRow,
        (schemas, paths, methods): UtoipaMethodRouter<Arc<Service>>,
        mut all: Vec<Code>,
    ) {
        self.names.push(name);
        all.sort_unstable();
        all.dedup();
        let listed: Arc<[Code]> = all.into();
        let logged = CallRow::of(name).logged;
        let components = self.document.components.get_or_insert_default();
        for (path, mut item) in paths.paths {
            for operation in operations(&mut item) {
                document(operation, &listed, &mut components.responses);
                document_roles(operation, callers);
                if kind.changes() {
                    document_key(operation);
                    document_lines(operation);
                }
                if *kind == CallKind::ChangesDry {
                    document_before(operation);
                }
            }
            let listed = Arc::clone(&listed);
            let methods = match kind {
                CallKind::Changes => methods.clone().layer(middleware::from_fn(before::refuse)),
                _ => methods.clone(),
            };
            let methods =
                methods.layer(middleware::from_fn(move |request: Request, next: Next| {
                    let listed = Arc::clone(&listed);
                    logged::logged(logged, request, move |request| {
                        watch(name, listed, request, next)
                    })
                }));
            self.router = std::mem::take(&mut self.router).route(&path, methods);
            let shown = shown(&path);
            let known = &mut self.document.paths.paths;
            match known.get_mut(&shown) {
                Some(known) => known.merge_operations(item),
                None => {
                    known.insert(shown, item);
                }
            }
        }
        for (name, schema) in schemas {
            let known = components.schemas.get(&name);
            debug_assert!(
                known.is_none_or(|known| *known == schema),
                "two types of the document are named `{name}`"
            );
            components.schemas.insert(name, schema);
        }
    }

    /// Adds the twin of a call for end users: its handler is that of a call below [`TWIN`], its token needs a scope.
    pub(super) fn mine(
        mut self,
        name: &'static str,
        (schemas, mut paths, methods): UtoipaMethodRouter<Arc<Service>>,
    ) -> Self {
        let row = CallRow::of(name);
        let Callers::Tokens(scope) = row.callers else { return self };
        paths.paths = std::mem::take(&mut paths.paths)
            .into_iter()
            .map(|(path, mut item)| {
                operations(&mut item).for_each(|operation| document_mine(name, operation));
                (path.replacen(TWIN, ME, 1), item)
            })
            .collect();
        let general = row.kind.codes().filter(|code| *code != Code::Unauthorized);
        let general =
            general.chain(COMMON_OF_USERS.iter().copied()).chain(QUERIES_TENANT.iter().copied());
        let codes = general.chain(row.codes.iter().copied());
        let methods = methods.layer(middleware::from_fn(move |request: Request, next: Next| {
            let token = request.extensions().get::<Arc<Token>>();
            let is_open = token.is_some_and(|token| token.scope.opens(scope));
            async move {
                if is_open {
                    return next.run(request).await;
                }
                let detail = format!("the token lacks the scope `{}`", scope.word());
                Problem::new(Code::Scope, detail).into_response()
            }
        }));
        self.add_listed(name, row, (schemas, paths, methods), codes.collect());
        self
    }

    /// The names of all of them.
    pub(super) fn names(self) -> Vec<&'static str> {
        self.names
    }

    /// The router and the document.
    pub(super) fn finish(self) -> (Router<Arc<Service>>, OpenApi) {
        (self.router, self.document)
    }
}

/// The actions that lines of the log of changes may have.
pub(super) fn logged_actions() -> impl Iterator<Item = &'static str> + Clone {
    row::logged_actions().chain(BESIDE_CALLS)
}

/// The actions that are no calls of the API.
const BESIDE_CALLS: [&str; 11] = [
    "configuration.loaded",
    "session.begun",
    "session.ended",
    "session.refused",
    "person.shown",
    "data.exported",
    "mcp.called",
    "job.begun",
    "job.ended",
    "suppressed",
    "store.restored",
];

/// A path as the document has it: the router's mark for "the rest of the path" is none of OpenAPI's.
pub(super) fn shown(path: &str) -> String {
    path.replace("{*", "{")
}

/// The documented path that was probably meant by one that no call has: with another end, without its version, or with
/// a letter wrong.
pub(super) fn nearest_path<'p>(
    path: &str,
    known: impl IntoIterator<Item = &'p str>,
) -> Option<&'p str> {
    if path.len() > PATH_BYTES_MAX {
        return None;
    }
    let known: Vec<&'p str> = known.into_iter().collect();
    let of = |path: &str| {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let is_meant = |known: &&str| {
            let names: Vec<&str> = known.split('/').filter(|name| !name.is_empty()).collect();
            let same = |(name, part): (&&str, &&str)| {
                name.starts_with('{') || nearest(part, [*name]).is_some()
            };
            names.len() == parts.len() && names.iter().zip(&parts).all(same)
        };
        // Names before what stands for any: of several, the one with fewer of those.
        known.iter().copied().filter(is_meant).min_by_key(|known| known.matches('{').count())
    };
    of(path).or_else(|| of(&format!("/v1/{path}")))
}

/// The longest path for which a near one is looked for.
const PATH_BYTES_MAX: usize = 512;

/// The methods that a path has.
pub(super) fn methods(item: &PathItem) -> Vec<&'static str> {
    let has = [
        ("GET", item.get.is_some()),
        ("PUT", item.put.is_some()),
        ("POST", item.post.is_some()),
        ("DELETE", item.delete.is_some()),
        ("PATCH", item.patch.is_some()),
    ];
    has.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}

async fn watch(name: &'static str, listed: Arc<[Code]>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Some(code) = response.extensions().get::<Code>()
        && !listed.contains(code)
    {
        #[cfg(test)]
        panic!("{name} answers {code:?} and does not list it");
        #[cfg(not(test))]
        tracing::warn!(call = name, code = code.row().code, "an error that is not documented");
    }
    response.extensions_mut().insert(CallName(name));
    response
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch]
        .into_iter()
        .flatten()
}

/// Returns true if a call has this name.
pub(super) fn is_call(name: &str) -> bool {
    CallRow::find(name).is_some()
}

/// The roles that may make a call of hosts; none where it is one of end users.
pub(super) fn roles_of(name: &str) -> Option<&'static Roles> {
    match &CallRow::of(name).callers {
        Callers::Keys(roles) => Some(roles),
        Callers::Tokens(_) => None,
    }
}

/// Lists the roles whose keys may make a call: no key may make one of end users.
fn document_roles(operation: &mut Operation, callers: &Callers) {
    let roles: Vec<&str> = match callers {
        Callers::Keys(roles) => roles.names().collect(),
        Callers::Tokens(_) => Vec::new(),
    };
    operation.extensions.get_or_insert_default().insert("x-roles".to_owned(), roles.into());
}

/// Makes the entry of a call that of its twin for end users: a token says who they are.
fn document_mine(name: &str, operation: &mut Operation) {
    operation.operation_id = Some(name.to_owned());
    operation.tags = Some(vec!["me".to_owned()]);
    operation.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
    if let Some(parameters) = &mut operation.parameters {
        let is_recipient = |parameter: &RefOr<Parameter>| match parameter {
            RefOr::T(parameter) => {
                parameter.name == "id" && parameter.parameter_in == ParameterIn::Path
            }
            RefOr::Ref(_) => false,
        };
        parameters.retain(|parameter| !is_recipient(parameter));
    }
}

/// Lists the errors in an operation, one response a status. Calls with the same errors of a status share it.
fn document(operation: &mut Operation, codes: &[Code], shared: &mut SharedResponses) {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        by_status.entry(code.row().status).or_default().push(*code);
    }
    for (status, codes) in by_status {
        let names: Vec<&str> = codes.iter().map(|code| code.row().code).collect();
        let name = format!("{status}-{:016x}", xxh3_64(names.join("-").as_bytes()));
        let response = Ref::from_response_name(&name);
        let known = operation.responses.responses.insert(status.to_string(), response.into());
        debug_assert!(known.is_none(), "{status} is documented twice");
        shared.entry(name).or_insert_with(|| problems(&codes).into());
    }
}

/// A response with an example for each of its codes.
fn problems(codes: &[Code]) -> Documented {
    let rows = || codes.iter().map(|code| code.row());
    let about: Vec<String> = rows().map(|row| format!("`{}`: {}", row.code, row.title)).collect();
    let examples = rows().map(|row| {
        let example = Ref::new(format!("#/components/examples/{}", row.code));
        (row.code, RefOr::Ref(example))
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .examples_from_iter(examples)
        .build();
    let mut response =
        ResponseBuilder::new().description(about.join("; ")).content(PROBLEM_JSON, content).build();
    if rows().any(|row| matches!(row.again, RetryAdvice::After(_))) {
        document_header(&mut response, "Retry-After");
    }
    if rows().any(|row| row.status == 401) {
        document_header(&mut response, "WWW-Authenticate");
    }
    response
}

/// Lists a header of [`headers`] in a response.
fn document_header(response: &mut Documented, name: &str) {
    let header = Ref::new(format!("#/components/headers/{name}"));
    let headers = &mut response.headers;
    headers.insert(name.to_owned(), RefOr::Ref(header));
}

/// The headers that several responses have.
fn headers() -> [(&'static str, Header); 3] {
    let of = |kind| ObjectBuilder::new().schema_type(kind);
    let header = |schema: ObjectBuilder, about: &str| {
        let header = HeaderBuilder::new().schema(Some(schema));
        header.description(Some(about)).build()
    };
    let replayed = of(Type::String).enum_values(Some(["true"]));
    [
        (
            "Retry-After",
            header(of(Type::Integer).minimum(Some(1)), "Seconds to wait before a retry"),
        ),
        ("WWW-Authenticate", header(of(Type::String), "The authentication scheme")),
        (
            "Idempotency-Replayed",
            header(
                replayed,
                "Present if this is the stored answer of an earlier request with the same `Idempotency-Key`",
            ),
        ),
    ]
}

/// Documents the `Idempotency-Key` of a request, and the header of its answer.
fn document_key(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && status.starts_with('2')
        {
            document_header(response, "Idempotency-Replayed");
        }
    }
    let key = Ref::new(format!("#/components/parameters/{KEY}"));
    operation.parameters.get_or_insert_default().push(RefOr::Ref(key));
}

/// Documents `dry` and `expect` of a request.
fn document_before(operation: &mut Operation) {
    let parameters = operation.parameters.get_or_insert_default();
    parameters.extend(before::parameters().map(|(name, _)| {
        let parameter = Ref::new(format!("#/components/parameters/{name}"));
        RefOr::Ref(parameter)
    }));
}

fn idempotency_key() -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(KEY_BYTES_MAX));
    let about = "A request that is sent again with the same key within 24 hours is done once and gets the same answer";
    ParameterBuilder::new()
        .name(KEY)
        .parameter_in(ParameterIn::Header)
        .description(Some(about))
        .schema(Some(schema))
        .build()
}

/// Documents the answers to lines of a stream: the status is sent before the first line is read.
fn document_lines(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && response.content.contains_key("application/x-ndjson")
        {
            let codes: Vec<&str> = IN_LINES.iter().map(|code| code.row().code).collect();
            let codes = codes.join("`, `");
            response.description.push_str(&format!(
                ". A stream is answered with one object per line, whose `line` counts from 1; blank lines are \
                 counted, skipped and not answered. A line that fails is `rejected` with its problem. The \
                 code is one of the call for a single item, or one of `{codes}`"
            ));
        }
    }
}
