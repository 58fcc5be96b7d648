//! A server without a socket, over a store in memory and a clock that stands: what tests call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tidings_api::sessions::NewSession;
use tidings_api::token::sign;
use tidings_config::{ConfigSource, secret_here};
use tidings_core::{Id, Instant, Rules};
use tidings_mail::{SECRET_BYTES, TokenKey};
use tidings_node::channel::{
    CAUGHT_MAX, CaughtMailbox, Channels, Durability, ProviderSetup, ServerTimeouts, open_all,
};
use tidings_node::{
    ApiKey, Clock, Delivery, KeyChange, KeyHash, Retries, Role, Runtime, Session, SignedIn,
    SigningKey, SigningSecret, VirtualClock,
};
use tidings_store::{MemoryStore, Store};
use tower::ServiceExt as _;

use crate::{Access, Service, Settings};

/// A configuration with a type for each kind of lane.
pub(crate) const CONFIG: &str = r#"
[categories.news]
[digests.daily]
every = "day"
[types.note]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "cooldown", quiet = "4m" } }
[types.weekly]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
[[hooks]]
url = "https://app.example.org/tidings"
secret = "${HOOK_SECRET}"
of = ["address.suppressed"]
"#;

/// The key of the tokens in links.
pub(crate) fn tokens() -> TokenKey {
    TokenKey::new(&[7; SECRET_BYTES])
}

/// The channels of a configuration, whose secrets are those of the process.
pub(crate) fn channels(
    rules: &Rules,
    clock: &Arc<dyn Clock>,
    caught: &Arc<CaughtMailbox>,
) -> Channels {
    let setup = ProviderSetup {
        secret: &secret_here,
        durability: Durability::Each,
        patience: ServerTimeouts::default(),
        clock,
        tokens: Some(&tokens()),
        caught,
    };
    open_all(rules, &setup).unwrap()
}

/// Opens a store, as often as need be.
pub(crate) type Open = Arc<dyn Fn() -> Result<Arc<dyn Store>, tidings_store::Error> + Send + Sync>;

fn in_memory(store: &Arc<MemoryStore>) -> Open {
    let store = Arc::clone(store);
    Arc::new(move || Ok(Arc::clone(&store) as Arc<dyn Store>))
}

/// A signing key of this id.
pub(crate) fn signing_key(id: &str) -> SigningKey {
    SigningKey {
        id: id.to_owned(),
        name: String::new(),
        made: Instant(0),
        scope: None,
        tenant: None,
        secret: SigningSecret::Hs256(format!("tsk_{id}_test")),
    }
}

/// A token by the signing key of this id, for a quarter of an hour from noon of the first day of 2024.
pub(crate) fn user_token(key: &str, recipient: &str, scope: Option<&str>) -> String {
    user_token_of(key, recipient, 1_704_110_400, scope)
}

/// A token that is valid for a quarter of an hour from an instant on, in seconds.
pub(crate) fn user_token_of(
    key: &str,
    recipient: &str,
    issued_s: i64,
    scope: Option<&str>,
) -> String {
    let recipient = Id::new(recipient).unwrap();
    sign(&signing_key(key), &recipient, issued_s, issued_s + 900, scope, None).unwrap()
}

/// A server to be called.
pub(crate) struct Rig {
    /// Asynchronous work of the calls.
    pub(crate) tokio: tokio::runtime::Runtime,
    /// The state that calls share.
    pub(crate) service: Arc<Service>,
    /// The clock that they go by.
    pub(crate) clock: Arc<VirtualClock>,
    open: Open,
    pub(crate) router: Router,
    runtime: Option<Runtime>,
}

/// The answer of a call.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answered {
    /// The body as JSON; null where it is empty.
    pub(crate) fn json(&self) -> Value {
        if self.bytes.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }
}

impl Rig {
    /// A server with [`CONFIG`], open to everybody, at noon of the first day of 2024.
    pub(crate) fn new() -> Self {
        Self::with(CONFIG, Access::Open, Settings::default())
    }

    /// A server of one's own.
    pub(crate) fn with(config: &str, access: Access, settings: Settings) -> Self {
        let clock = Arc::new(VirtualClock::default());
        clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
        Self::over(in_memory(&Arc::default()), clock, config, access, settings)
    }

    /// A server with a configuration and channels of one's own.
    pub(crate) fn with_channels(config: &str, channels: Channels) -> Self {
        let clock = Arc::new(VirtualClock::default());
        clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
        let open = in_memory(&Arc::default());
        Self::start(
            open,
            clock,
            config,
            channels,
            Access::Open,
            Settings::default(),
            Arc::default(),
        )
    }

    /// The same for callers with a key.
    pub(crate) fn with_keys(config: &str, channels: Channels) -> Self {
        let clock = Arc::new(VirtualClock::default());
        clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
        let open = in_memory(&Arc::default());
        let access = Access::Keys { token: None };
        Self::start(open, clock, config, channels, access, Settings::default(), Arc::default())
    }

    /// A server whose `caught://` keeps messages.
    pub(crate) fn catching(config: &str) -> Self {
        let clock = Arc::new(VirtualClock::default());
        clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
        let rules = tidings_config::parse(config, "tidings.toml").unwrap();
        let caught = Arc::new(CaughtMailbox::of(CAUGHT_MAX));
        let clocks = Arc::clone(&clock) as Arc<dyn Clock>;
        let channels = channels(&rules, &clocks, &caught);
        let (open, settings) = (in_memory(&Arc::default()), Settings::default());
        Self::start(open, clock, config, channels, Access::Open, settings, caught)
    }

    /// A server over what `open` opens, on a clock of one's own.
    pub(crate) fn over(
        open: Open,
        clock: Arc<VirtualClock>,
        config: &str,
        access: Access,
        settings: Settings,
    ) -> Self {
        Self::start(open, clock, config, BTreeMap::new(), access, settings, Arc::default())
    }

    fn start(
        open: Open,
        clock: Arc<VirtualClock>,
        config: &str,
        channels: Channels,
        access: Access,
        settings: Settings,
        caught: Arc<CaughtMailbox>,
    ) -> Self {
        let rules = tidings_config::parse(config, "tidings.toml").unwrap();
        let opened = Arc::clone(&open);
        let runtime = Runtime::start(
            Box::new(move || opened()),
            rules.clone(),
            Delivery::new(channels, Retries::default()),
            Arc::clone(&clock) as _,
            tidings_node::Settings::default(),
        )
        .unwrap();
        let service =
            Service::new(runtime.handle(), rules, access, Arc::clone(&clock) as _, settings);
        let source = ConfigSource { file: "tidings.toml".into(), text: config.to_owned() };
        service.trials.set_source(source);
        let service = Arc::new(service.with_site(tokens()).with_caught(caught));
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        Self {
            tokio,
            router: crate::router(Arc::clone(&service)),
            service,
            clock,
            open,
            runtime: Some(runtime),
        }
    }

    /// Stops the node; the calls are still there.
    pub(crate) fn stop(&mut self) {
        self.runtime.take().unwrap().stop().unwrap();
    }

    /// Stops the node and starts another over the same store.
    pub(crate) fn restart(self) -> Self {
        self.restart_with(CONFIG)
    }

    /// The same with another configuration.
    pub(crate) fn restart_with(self, config: &str) -> Self {
        self.restart_with_channels(config, BTreeMap::new())
    }

    /// The same with channels of one's own.
    pub(crate) fn restart_with_channels(mut self, config: &str, channels: Channels) -> Self {
        self.stop();
        let (open, clock) = (Arc::clone(&self.open), Arc::clone(&self.clock));
        Self::start(
            open,
            clock,
            config,
            channels,
            Access::Open,
            self.service.settings,
            Arc::default(),
        )
    }

    /// Puts the clock and has the node look at it.
    pub(crate) fn at(&self, instant: &str) {
        self.clock.set(Instant::parse(instant).unwrap());
        self.service.handle.wake().unwrap();
        // What has come due by then is durable when this is answered.
        self.service.handle.submit(Vec::new()).unwrap();
    }

    /// Makes an API key of this id, whose secret nobody has.
    pub(crate) fn make_key(&self, id: &str) {
        let key = ApiKey {
            hash: KeyHash([0; 32]),
            id: id.to_owned(),
            name: String::new(),
            made: Instant(0),
            role: Role::Admin,
        };
        self.change_keys(KeyChange::Make(key));
    }

    /// Begins a session of this id, whose secret nobody has.
    pub(crate) fn begin_session(&self, id: &str, by: SignedIn) {
        let begun = self.service.now();
        let groups = Vec::new();
        let new = NewSession::make(by, Role::Operate, groups, begun).unwrap().stored;
        self.change_keys(KeyChange::BeginSession(Session { id: id.to_owned(), ..new }));
    }

    /// Makes a signing key of this id, whose tokens [`user_token`] signs.
    pub(crate) fn make_signing_key(&self, id: &str) {
        self.change_keys(KeyChange::MakeSigning(signing_key(id)));
    }

    /// Changes the keys.
    pub(crate) fn change_keys(&self, change: KeyChange) {
        let (tell, told) = channel();
        let then = move |made: Result<_, _>| tell.send(made.is_ok()).unwrap();
        let handle = &self.service.handle;
        handle.change_keys(Instant(0), change, None, then).unwrap();
        assert!(told.recv().unwrap());
    }

    /// Calls with a JSON body; null sends none.
    pub(crate) fn call(&self, method: Method, path: &str, body: &Value) -> Answered {
        let body = match body {
            Value::Null => Vec::new(),
            body => serde_json::to_vec(body).unwrap(),
        };
        self.send(method, path, &[("content-type", "application/json")], body)
    }

    /// Calls with these headers and this body.
    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answered {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.tokio.block_on(self.ask(request.body(body.into()).unwrap()))
    }

    /// The answer to a call as it begins: its body is still to come.
    pub(crate) fn begin(&self, request: Request<Body>) -> Response {
        self.tokio.block_on(self.router.clone().oneshot(request)).unwrap()
    }

    /// Calls from within asynchronous work, many at once if need be.
    pub(crate) fn ask(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Answered> + Send + 'static {
        let router = self.router.clone();
        async move {
            let response = router.oneshot(request).await.unwrap();
            let (parts, mut body) = response.into_parts();
            // A stream does not end: its beginning is the answer.
            if parts.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream") {
                let first = body.frame().await.unwrap().unwrap();
                body = first.into_data().unwrap().into();
            }
            let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            Answered { status: parts.status, headers: parts.headers, bytes: bytes.to_vec() }
        }
    }
}
