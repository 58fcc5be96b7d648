//! The client of the host's service that returns the present state of objects (`[resolver]`).
//!
//! A question is a POST of `{"objects": ["works/1", ...]}`. An answer is `{"objects": [...], "retracted": [...]}`:
//! bodies as of `PUT /v1/objects/ID`, each with its `id`, and ids of objects as of `POST /v1/objects/ID/retract`.
//! A question is signed as [Standard Webhooks](https://www.standardwebhooks.com) are, so that the host knows who
//! asks.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Deserialize;
use tidings_core::rules::ResolverRules;
use tidings_core::{Command, Id};
use tidings_node::channel::WebhookKey;
use tidings_node::{Clock, ResolvedObjects, Resolver, ResolverBounds};

use tidings_api::body::object::ObjectChange;
use tidings_api::body::text::Text;
use tidings_api::body::{Fault, Fields};

/// The largest answer that is read, in bytes: a thousand objects with all the data that they may have.
const ANSWER_BYTES_MAX: u64 = 32 << 20;

/// The client, whose settings are those of the configuration in force.
pub struct ObjectStateClient {
    service: RwLock<Option<Arc<ResolverService>>>,
    clock: Arc<dyn Clock>,
}

/// The host's service, and how it is asked.
pub struct ResolverService {
    rules: ResolverRules,
    agent: ureq::Agent,
    key: Option<WebhookKey>,
}

impl ResolverService {
    /// Creates a client from a configuration with its secrets.
    ///
    /// # Errors
    /// The secret is not available, or too short.
    pub fn new(
        rules: &ResolverRules,
        secret: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let key = match &rules.secret {
            None => None,
            Some(name) => {
                let secret = secret(name).map_err(|why| format!("the secret `{name}`: {why}"))?;
                let key = WebhookKey::parse(&secret);
                Some(key.map_err(|why| format!("the secret `{name}` {why}"))?)
            }
        };
        let timeout = Duration::from_millis(rules.timeout_ms.unsigned_abs());
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .max_redirects(0)
            .tls_config(tidings_tls::http_client())
            .proxy(tidings_tls::Proxies::to(&rules.url))
            .http_status_as_error(false)
            .build()
            .new_agent();
        Ok(Self { rules: rules.clone(), agent, key })
    }

    fn ask(&self, objects: &[Id], unix_s: i64) -> Result<ResolvedObjects, String> {
        let ids: Vec<&str> = objects.iter().map(Id::as_str).collect();
        let question = serde_json::json!({ "objects": ids }).to_string();
        let mut request =
            self.agent.post(&self.rules.url).header("content-type", "application/json");
        if let Some(key) = &self.key {
            let id = format!("msg_{}", uuid::Uuid::now_v7().simple());
            let signature = key.sign(&id, unix_s, &question);
            request = request
                .header("webhook-id", id)
                .header("webhook-timestamp", unix_s.to_string())
                .header("webhook-signature", signature);
        }
        let mut answer = request.send(&question).map_err(|fault| fault.to_string())?;
        let status = answer.status();
        if status.as_u16() != 200 {
            return Err(format!("the answer is {status}"));
        }
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        let bytes = body.read_to_vec().map_err(|fault| fault.to_string())?;
        resolved(&bytes).map_err(|fault| format!("the answer: {fault}"))
    }
}

impl ObjectStateClient {
    /// Creates a client; `None` = there is no resolver.
    #[must_use]
    pub fn new(service: Option<ResolverService>, clock: Arc<dyn Clock>) -> Self {
        Self { service: RwLock::new(service.map(Arc::new)), clock }
    }

    /// Puts other settings in force.
    pub fn replace(&self, service: Option<ResolverService>) {
        let mut known = self.service.write().unwrap_or_else(PoisonError::into_inner);
        *known = service.map(Arc::new);
    }

    fn service(&self) -> Option<Arc<ResolverService>> {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner);
        service.clone()
    }
}

impl Resolver for ObjectStateClient {
    fn bounds(&self) -> Option<ResolverBounds> {
        let service = self.service()?;
        Some(ResolverBounds { batch: service.rules.batch as usize, wait_ms: service.rules.wait_ms })
    }

    fn resolve(&self, objects: &[Id]) -> Result<ResolvedObjects, String> {
        match self.service() {
            Some(service) => service.ask(objects, self.clock.now().0.div_euclid(1_000)),
            None => Err("there is no `[resolver]` any more".to_owned()),
        }
    }
}

/// An answer of the host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostAnswer {
    #[serde(default)]
    objects: Vec<ObjectChange>,
    #[serde(default)]
    retracted: Vec<Text<Id>>,
}

fn resolved(bytes: &[u8]) -> Result<ResolvedObjects, Fault> {
    let answer: HostAnswer = Fields::parse(bytes)?.body()?;
    let mut resolved = ResolvedObjects {
        objects: Vec::with_capacity(answer.objects.len()),
        retracted: answer.retracted.into_iter().map(|id| id.0).collect(),
    };
    for object in answer.objects {
        if let Command::Object(object) = object.command(None)? {
            resolved.objects.push(object);
        }
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests;
