//! Sample messages in several languages side by side.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use tidings_api::preview::{
    PreviewFormValues, Sample, SampleContent, SampleMail, design, render, side_by_side,
};
use tidings_config::wording::quoted;
use tidings_core::content::Batch;
use tidings_core::engine::TenantDirectory;
use tidings_core::model::KnownTenant;
use tidings_core::{Id, Rules};
use tidings_mail::{canonical_locale, check_locale};

use super::{FRAME, answer, internal};
use crate::error::{Code, Problem};
use crate::service::{Access, Service};

/// The most locales of a page.
const LOCALES_MAX: usize = 30;
/// The most tenants to choose from.
const TENANTS_MAX: usize = 200;
/// The most items of a message.
const ITEMS_MAX: u16 = 1_000;

/// The Content-Security-Policy of the page, which has an inline style, a form, and frames of this server.
const PAGE: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The query of the page and of a message.
#[derive(Deserialize)]
pub(super) struct PreviewQuery {
    /// Type or digest [default: the first one].
    show: Option<String>,
    /// Comma-separated locales [default: those of the configuration's texts].
    locales: Option<String>,
    /// Number of items of each type.
    items: Option<u16>,
    /// `1` = items have pictures.
    pictures: Option<String>,
    /// Tenant; absent or empty = none.
    tenant: Option<String>,
}

pub(super) async fn page(
    State(service): State<Arc<Service>>,
    Query(query): Query<PreviewQuery>,
) -> Result<Response, Problem> {
    let rules = open_rules(&service)?;
    let names = Sample::names(&rules);
    let usual = names.first().copied().map(str::to_owned);
    let show = query.show.clone().or(usual).ok_or_else(|| {
        Problem::new(Code::NotFound, "the configuration has no types, so there is nothing to show")
    })?;
    let locales = locales(&query, &rules)?;
    let SampleContent { items, pictures } = content(&query);
    let tenant = tenant(&service, &query).await?;
    let all = render_all(&rules, &show, &locales, content(&query), tenant.as_ref())?;
    let of_tenant = query.tenant.clone().unwrap_or_default();
    let link = |made: &SampleMail| {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let (show, locale) = (encoded(&show), encoded(&made.locale));
        let link = format!("/_mail/-/preview/message?show={show}&locales={locale}&items={items}");
        let link = if pictures { format!("{link}&pictures=1") } else { link };
        if tenant.is_none() { link } else { format!("{link}&tenant={}", encoded(&of_tenant)) }
    };
    let tenants = service.look(|node| {
        let ids = TenantDirectory::of(node.engine()).all(None).map(|of| of.id.as_str().to_owned());
        ids.take(TENANTS_MAX).collect()
    });
    let tenants = tenants.await?;
    let controls = PreviewFormValues {
        names,
        locales: locales.join(","),
        items,
        pictures,
        tenants,
        tenant: of_tenant.clone(),
    };
    let page = side_by_side(&show, &all, link, Some(&controls));
    Ok(answer(page.map_err(|fault| internal(&fault))?, PAGE))
}

pub(super) async fn message(
    State(service): State<Arc<Service>>,
    Query(query): Query<PreviewQuery>,
) -> Result<Response, Problem> {
    let rules = open_rules(&service)?;
    let show = query.show.clone().unwrap_or_default();
    let locales = locales(&query, &rules)?;
    let first = locales.first().cloned().into_iter().collect::<Vec<_>>();
    let tenant = tenant(&service, &query).await?;
    let all = render_all(&rules, &show, &first, content(&query), tenant.as_ref())?;
    let html = all.into_iter().next().map(|made| made.bodies.html).unwrap_or_default();
    Ok(answer(html, FRAME))
}

fn open_rules(service: &Service) -> Result<Arc<Rules>, Problem> {
    match service.access {
        Access::Open | Access::Own(_) => Ok(service.rules()),
        Access::Keys { .. } => {
            Err(Problem::new(Code::NotFound, "messages are previewed by `serve --dev` alone"))
        }
    }
}

/// The tenant that the query names.
async fn tenant(
    service: &Service,
    query: &PreviewQuery,
) -> Result<Option<Arc<KnownTenant>>, Problem> {
    let Some(id) = query.tenant.clone().filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let unknown = || Problem::new(Code::UnknownTenant, format!("no tenant {}", quoted(&id)));
    let of = Id::new(&id).map_err(|_| unknown())?;
    let known = service.look(move |node| {
        let found = TenantDirectory::of(node.engine()).get(&of)?;
        Some(KnownTenant::new(found.id.clone(), found.tenant.clone(), found.made))
    });
    known.await?.map(|known| Some(Arc::new(known))).ok_or_else(unknown)
}

/// The content of the messages that the query asks for.
fn content(query: &PreviewQuery) -> SampleContent {
    SampleContent {
        items: usize::from(query.items.unwrap_or(3).clamp(1, ITEMS_MAX)),
        pictures: query.pictures.as_deref() == Some("1"),
    }
}

fn locales(query: &PreviewQuery, rules: &Rules) -> Result<Vec<String>, Problem> {
    let Some(list) = query.locales.as_deref().filter(|list| !list.trim().is_empty()) else {
        return Ok(configured_locales(rules));
    };
    let locales: Vec<String> = list.split(',').map(|locale| locale.trim().to_owned()).collect();
    for locale in &locales {
        if let Err(fault) = check_locale(locale) {
            let detail = format!("{} is not a locale; {fault}", quoted(locale));
            return Err(Problem::new(Code::InvalidQuery, detail));
        }
    }
    if locales.len() > LOCALES_MAX {
        let detail = format!("a page shows at most {LOCALES_MAX} locales");
        return Err(Problem::new(Code::InvalidQuery, detail));
    }
    Ok(locales)
}

/// The locales that the texts of a configuration are in, the default one first.
fn configured_locales(rules: &Rules) -> Vec<String> {
    let presentation = &rules.presentation;
    let texts = presentation
        .types
        .values()
        .flat_map(|of| [&of.title, &of.sentence, &of.subject, &of.body, &of.action, &of.notice]);
    let titles = rules.categories.values().map(|category| &category.title);
    let titles = titles.chain(presentation.digest_titles.values());
    let tags = texts.chain(titles).flat_map(|texts| texts.0.keys());
    let mut used: BTreeSet<&str> =
        tags.chain(presentation.words.keys()).map(String::as_str).collect();
    used.remove("");
    // The texts have canonical tags, the default locale has the one that was given.
    used.remove(&*canonical_locale(&rules.defaults.locale));
    let usual = std::iter::once(rules.defaults.locale.as_str());
    usual.chain(used).take(LOCALES_MAX).map(str::to_owned).collect()
}

fn render_all(
    rules: &Rules,
    show: &str,
    locales: &[String],
    shown: SampleContent,
    tenant: Option<&Arc<KnownTenant>>,
) -> Result<Vec<SampleMail>, Problem> {
    let sample = Sample::of(show, rules).map_err(|fault| Problem::new(Code::NotFound, fault))?;
    let of_rules = design(rules).map_err(|fault| internal(&fault))?;
    let each = locales.iter().map(|locale| {
        let batch = sample.batch(rules, locale, shown);
        let batch = Batch { tenant: tenant.cloned(), ..batch };
        render(&batch, &of_rules).map_err(|fault| internal(&fault))
    });
    each.collect()
}
