//! Keys, people and sessions, as this server knows them, for people who sign in to the console.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use axum::http::request::Parts;
use tidings_api::keys::{hash, owner_of};
use tidings_api::sessions::NewSession;
use tidings_console::{
    CallProblem, Caller, CallerKind, PeerAddress, Place, ProxyPerson, Session, SignIn, Way,
};
use tidings_core::model::{Author, AuthorKind, Role, Via};
use tidings_core::rules::ConsoleProxy;
use tidings_node::{CallerId, KeyChange, RuntimeError, SignedIn};
use tokio::sync::oneshot;

use super::proxy::{AssertionKeys, of_header};
use super::{internal, problem, requester};
use crate::change::origin::{Logged, Requester};
use crate::error::{Code, Problem};
use crate::service::Service;

/// Signing in at this server.
pub(super) struct ServerSignIn {
    service: Arc<Service>,
    keys: AssertionKeys,
}

impl ServerSignIn {
    pub(super) fn new(service: &Arc<Service>) -> Self {
        Self { service: Arc::clone(service), keys: AssertionKeys::default() }
    }

    /// Changes sessions in a caller's name, and waits until that is durable.
    async fn change(
        &self,
        requester: &Requester,
        action: &'static str,
        change: KeyChange,
    ) -> Result<(), CallProblem> {
        let (send, done) = oneshot::channel();
        let then = move |done: Result<_, RuntimeError>| {
            let _ = send.send(done.map_err(Problem::from));
        };
        let origin = requester.origin(Logged::As(action), None);
        let handle = self.service.handle.with_origin(origin);
        let begun = handle.change_keys(self.service.now(), change, None, then);
        begun.map_err(|fault| problem(&Problem::from(fault)))?;
        self.service.answered(done).await.map(drop).map_err(|fault| problem(&fault))
    }
}

#[async_trait]
impl SignIn for ServerSignIn {
    fn place(&self) -> Place {
        let rules = self.service.rules();
        let url = rules.console.as_ref().and_then(|console| console.url.as_ref());
        Place { origin: url.map(ToString::to_string) }
    }

    fn knows_host(&self, host: &str) -> bool {
        let rules = self.service.rules();
        rules.console.as_ref().is_some_and(|console| console.knows_host(host))
    }

    fn key_holder(&self, key: &str) -> Option<Caller> {
        let keys = self.service.handle.keys();
        let key = owner_of(key, keys.iter().map(|key| (&key.hash, key)))?;
        Some(caller(CallerKind::Key, &key.id, key.role))
    }

    async fn vouched(&self, request: &Parts) -> Option<ProxyPerson> {
        let rules = self.service.rules();
        let console = rules.console.as_ref()?;
        let groups = console.groups.as_deref();
        match console.proxy.as_ref()? {
            ConsoleProxy::Header(proxy) => of_header(proxy, groups, request),
            ConsoleProxy::Jwt(proxy) => {
                self.keys.person(proxy, groups, request, self.service.now()).await
            }
        }
    }

    fn role(&self, person: &ProxyPerson) -> Option<&'static str> {
        let rules = self.service.rules();
        let groups = person.groups.iter().map(String::as_str);
        Some(rules.console.as_ref()?.roles.of(&person.name, groups)?.name())
    }

    async fn begin(&self, caller: &Caller, groups: &[String]) -> Result<String, CallProblem> {
        let by = match caller.kind {
            CallerKind::Key => SignedIn::Key(caller.id.clone()),
            CallerKind::Person => SignedIn::Person(caller.id.clone()),
        };
        let role = Role::named(caller.role);
        let role = role.ok_or_else(|| problem(&Problem::new(Code::Role, "no such role")))?;
        let new = NewSession::make(by, role, groups.to_vec(), self.service.now());
        let new = new.map_err(|fault| internal(&fault))?;
        let begin = KeyChange::BeginSession(new.stored);
        self.change(&requester(caller), "session.begun", begin).await?;
        Ok(new.secret.text().to_owned())
    }

    async fn session(&self, secret: &str) -> Option<Session> {
        let session = self.service.handle.use_session(&hash(secret), self.service.now())?;
        let caller = match &session.by {
            SignedIn::Key(id) => {
                // The role of a key is that of now.
                let keys = self.service.handle.keys();
                let key = keys.iter().find(|key| key.id == *id)?;
                caller(CallerKind::Key, id, key.role)
            }
            SignedIn::Person(name) => caller(CallerKind::Person, name, session.role),
        };
        Some(Session { id: session.id, caller, groups: session.groups })
    }

    async fn end(&self, secret: &str) -> Result<(), CallProblem> {
        let now = self.service.now();
        let Some(session) = self.service.handle.session(&hash(secret), now) else {
            return Ok(());
        };
        let by = Requester { by: session.author(), via: Via::Console };
        self.change(&by, "session.ended", KeyChange::EndSession(session.id)).await
    }

    async fn refused(&self, peer: Option<PeerAddress>) {
        let address = peer.map_or(IpAddr::from([127, 0, 0, 1]), |PeerAddress(address)| address);
        let by = Requester { by: Author::new(AuthorKind::Person, ""), via: Via::Console };
        let origin = by.origin(Logged::As("session.refused"), None);
        let handle = self.service.handle.of(CallerId::Address(address)).with_origin(origin);
        // A node that is busy logs the next one.
        let _ = handle.log_refused_session(self.service.now());
    }
}

fn caller(kind: CallerKind, id: &str, role: Role) -> Caller {
    Caller { kind, id: id.to_owned(), role: role.name(), way: Way::Console }
}
