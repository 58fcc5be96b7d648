//! The pages to which mails lead. They need no key: a token in the address says whose they are.
//!
//! A choice there becomes a command like any other. A page that is looked at changes nothing, since mail
//! programs and scanners open every link. What a wrong token leads to tells nothing of the right ones.

mod choices;
mod form;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use tidings_core::engine::{Presenter, TenantDirectory};
use tidings_core::journal::Unreadable;
use tidings_core::model::{ChangedBy, PreferenceScope};
use tidings_core::{Command, Rules};
use tidings_mail::{Design, NoticePage, Rest, Unsubscribe};
use tidings_node::DurableSnapshot;

use self::choices::{Set, SiteChooser};
use self::form::Form;
use super::answer::only;
use super::call::CallName;
use super::error::Problem;
use super::service::Service;
use crate::change::origin::{Logged, Requester, with_origin};
use crate::request::extract::whole;
use crate::site_state::{CHOICES, CHOOSE, REST, Site, design};

/// The most bytes of a form.
const FORM_BYTES_MAX: usize = 64 << 10;
/// The seconds after which a page may be asked for again.
const BUSY_SECONDS: &str = "60";

impl Service {
    /// The look of mails, with links where it has pages to which they lead.
    pub(super) fn design(&self) -> Design {
        match &self.site {
            Some(site) => (*site.design()).clone().linked(site.tokens().clone()),
            None => design(&self.rules()),
        }
    }
}

/// The routes of the pages.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/u/{token}", get(show_choices).post(choose).fallback(no_method))
        .route("/more/{token}", get(show_rest).fallback(no_method))
}

/// A page that could not be made.
enum PageFault {
    /// There is nothing to show.
    Notice(NoticePage, PageLook),
    /// The node's problem.
    Problem(Problem),
}

/// The look of a page without content, as far as it is known whose it is.
#[derive(Default)]
struct PageLook {
    locale: Option<String>,
    /// The look of the tenant.
    design: Option<Arc<Design>>,
}

impl From<Problem> for PageFault {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<NoticePage> for PageFault {
    fn from(notice: NoticePage) -> Self {
        Self::Notice(notice, PageLook::default())
    }
}

impl From<Unreadable> for PageFault {
    fn from(fault: Unreadable) -> Self {
        Self::Problem(fault.into())
    }
}

type PageResult = Result<String, PageFault>;

/// The token of an address, which may not even be UTF-8.
type TokenPath = Result<Path<String>, PathRejection>;

async fn show_choices(State(service): State<Arc<Service>>, token: TokenPath) -> Response {
    let page = async {
        let token = token.map(|Path(token)| token).map_err(|_| NoticePage::NoLink)?;
        let site = service.site.as_ref().ok_or(NoticePage::NoLink)?;
        let token = Unsubscribe::open(site.tokens(), &token).ok_or(NoticePage::NoLink)?;
        service.shards.at_home(&token.recipient)?;
        let _room = site.room(service.settings.answer_patience).await?;
        choices_page(&service, site, token, None).await
    };
    answer(&service, CHOICES, page.await)
}

async fn choose(
    State(service): State<Arc<Service>>,
    token: TokenPath,
    request: Request,
) -> Response {
    let page = async {
        let token = token.map(|Path(token)| token).map_err(|_| NoticePage::NoLink)?;
        let site = service.site.as_ref().ok_or(NoticePage::NoLink)?;
        let token = Unsubscribe::open(site.tokens(), &token).ok_or(NoticePage::NoLink)?;
        let (parts, body) = request.into_parts();
        let (body, _memory) = whole(&parts, body, &service.open_bodies, FORM_BYTES_MAX).await?;
        let home = service.shards.at_home(&token.recipient);
        home.map_err(|problem| problem.with_body(&body))?;
        let form = Form::read(&parts.headers, &body);
        let _room = site.room(service.settings.answer_patience).await?;
        let set = set(&service, &token, form).await?;
        choices_page(&service, site, token, Some(set)).await
    };
    answer(&service, CHOOSE, page.await)
}

async fn show_rest(
    State(service): State<Arc<Service>>,
    token: TokenPath,
    RawQuery(query): RawQuery,
) -> Response {
    let page = async {
        let token = token.map(|Path(token)| token).map_err(|_| NoticePage::NoLink)?;
        let site = service.site.as_ref().ok_or(NoticePage::NoLink)?;
        let rest = Rest::open(site.tokens(), &token).ok_or(NoticePage::NoLink)?;
        service.shards.at_home_of(rest.message.closing.bucket)?;
        let _room = site.room(service.settings.answer_patience).await?;
        let from = query.as_deref().and_then(|query| {
            let mut parts = query.split('&');
            parts.find_map(|part| part.strip_prefix("from="))?.parse().ok()
        });
        let (design, rules) = (site.design(), service.rules());
        let page = move |node: &DurableSnapshot| {
            rest_page(node, &design, &rules, &rest, from.unwrap_or(0))
        };
        service.look(page).await?
    };
    answer(&service, REST, page.await)
}

async fn no_method(State(service): State<Arc<Service>>) -> Response {
    let mut response = answer(&service, CHOICES, Err(NoticePage::NoLink.into()));
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// Does what a form asks for.
async fn set(service: &Service, token: &Unsubscribe, form: Form) -> Result<Set, PageFault> {
    let rules = service.rules();
    let (of, judged) = (token.clone(), Arc::clone(&rules));
    let is_of_page = matches!(form, Form::Set(_));
    let chosen = service
        .look(move |node| {
            let chooser = SiteChooser::of(node, &judged, &of)?;
            let set = match form {
                Form::OneClick => chooser.one_click(),
                Form::Set(list) => chooser.listed(&list)?,
                Form::Nothing => Vec::new(),
            };
            Some((chooser.undo(&set), set))
        })
        .await?;
    let (undo, chosen) = chosen.ok_or(NoticePage::NoLink)?;
    // A button for a category or all mail takes back what is narrower as well, and says what it does at the end. The day
    // and the time of a digest are set together.
    let of_button = chosen.last().filter(|last| {
        let is_wide = match &last.scope {
            PreferenceScope::AllCategories | PreferenceScope::Category(_) => true,
            scope => scope.digest().is_some(),
        };
        is_of_page && (chosen.len() == 1 || is_wide)
    });
    let set = Set { undo, chosen: of_button.cloned() };
    if chosen.is_empty() {
        return Ok(set);
    }
    let recipient = token.recipient.clone();
    let (whole, tenant, by) = (false, None, ChangedBy::Link);
    let command = Command::Preferences { recipient, chosen, whole, tenant, by };
    let origin =
        Requester::link(token.recipient.as_str()).origin(Logged::As("patch_preferences"), None);
    let done = with_origin(origin, service.submit(vec![command])).await?;
    only(done).map_err(|_| NoticePage::NoLink)?;
    Ok(set)
}

async fn choices_page(
    service: &Service,
    site: &Site,
    token: Unsubscribe,
    set: Option<Set>,
) -> PageResult {
    let (design, rules) = (site.design(), service.rules());
    let page = move |node: &DurableSnapshot| {
        let chooser = SiteChooser::of(node, &rules, &token).ok_or(NoticePage::NoLink)?;
        let built = Presenter::built(node.engine(), node.view(), token.message, token.day)?;
        let batch = built.map(|(batch, _)| batch);
        let of_recipient =
            |batch: &tidings_core::content::Batch| batch.recipient.id == token.recipient;
        let choices = chooser.choices(batch.filter(of_recipient).as_ref(), set.as_ref());
        let locales: Vec<&str> = chooser.locales.iter().map(String::as_str).collect();
        let tenant =
            token.tenant.as_ref().and_then(|of| TenantDirectory::of(node.engine()).get(&of.id));
        let of_tenant = tenant.map(|of| design.of_tenant(of.id, of.tenant));
        rendered(of_tenant.as_ref().unwrap_or(&design).choices(&locales, &choices))
    };
    service.look(page).await?
}

fn rest_page(
    node: &DurableSnapshot,
    design: &Design,
    rules: &Rules,
    rest: &Rest,
    from: usize,
) -> PageResult {
    let (engine, view) = (node.engine(), node.view());
    let profile = engine.recipient_of(rest.message).ok_or(NoticePage::NoLink)?;
    let forgotten = |look: PageLook| PageFault::Notice(NoticePage::Forgotten, look);
    let built = Presenter::built(engine, view, rest.message, rest.day)?;
    let Some((batch, is_whole)) = built else {
        let locale = profile.locale.as_ref().unwrap_or(&rules.defaults.locale);
        return Err(forgotten(PageLook { locale: Some(locale.clone()), design: None }));
    };
    match design.rest(&batch, is_whole.then_some(&rest.shown), from) {
        Ok(None) => {
            let tenant = batch.tenant.as_ref();
            let design = tenant.map(|known| design.of_tenant(&known.id, &known.tenant));
            Err(forgotten(PageLook { locale: Some(batch.locale), design }))
        }
        Ok(Some(page)) => Ok(page),
        Err(fault) => rendered(Err(fault)),
    }
}

/// A page, or the problem that one of our own templates fails: a defect.
fn rendered(page: Result<String, tidings_mail::RenderError>) -> PageResult {
    page.map_err(|fault| {
        let code = super::error::Code::Internal;
        PageFault::Problem(Problem::new(code, fault.to_string()))
    })
}

fn answer(service: &Service, name: &'static str, page: PageResult) -> Response {
    let mut response = match page {
        Ok(page) => Html(page).into_response(),
        Err(PageFault::Problem(problem)) => problem.into_response(),
        Err(PageFault::Notice(notice, look)) => notice_page(service, notice, look),
    };
    response.extensions_mut().insert(CallName(name));
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn notice_page(service: &Service, notice: NoticePage, look: PageLook) -> Response {
    let status = match notice {
        NoticePage::NoLink => StatusCode::NOT_FOUND,
        NoticePage::Forgotten => StatusCode::GONE,
        NoticePage::Busy => StatusCode::SERVICE_UNAVAILABLE,
    };
    let locale = look.locale.unwrap_or_else(|| service.rules().defaults.locale.clone());
    let design = look.design.or_else(|| service.site.as_deref().map(Site::design));
    let page = design.and_then(|design| design.notice(&[&locale], notice).ok());
    let mut response = (status, Html(page.unwrap_or_default())).into_response();
    if notice == NoticePage::Busy {
        let seconds = HeaderValue::from_static(BUSY_SECONDS);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

/// A page is for one reader and this moment, runs nothing, and tells nobody where it was.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("x-robots-tag"), "noindex"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; img-src https:; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
    ),
];

/// Reads a form of this type.
pub(super) fn read_form(kind: &[u8], body: &[u8]) {
    let kind = HeaderValue::from_bytes(kind);
    let headers = kind.ok().map(|kind| (header::CONTENT_TYPE, kind));
    let _ = Form::read(&headers.into_iter().collect(), body);
}
