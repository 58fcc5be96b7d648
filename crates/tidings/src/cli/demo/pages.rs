//! The pages of the demo: those of a developer's server over its store, at the end of its story, and the story at `/`.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{Html, IntoResponse as _};
use axum::routing::get;
use tidings_config::ConfigSource;
use tidings_core::Instant;
use tidings_demo::play::{self, PlayedStory};
use tidings_demo::story::Story;
use tidings_http::{Access, Service, listen};
use tidings_node::{AheadClock, Clock, Runtime as Node, Settings, SystemClock};
use tidings_store::Expected;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::app::resolver::ObjectStateClient;
use crate::app::{self, ReopenableStore, StartError};

/// Time for requests and mails in progress at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// The headers of the story: it loads the sheet of the console, and nothing else.
const HEADERS: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// A developer's server over the store of a story.
pub(super) struct DemoServer {
    node: Node,
    service: Arc<Service>,
    story: Story,
}

impl DemoServer {
    /// Starts it in the directory of a story. Its clock goes on from the end of the story.
    ///
    /// # Errors
    /// [`StartError`].
    pub(super) fn start(
        played: PlayedStory,
        story: Story,
        ends: Instant,
        dir: &Path,
    ) -> Result<Self, StartError> {
        let PlayedStory { node, rules, mailbox, .. } = played;
        // The store is opened by one at a time.
        drop(node);
        let data = play::store_in(dir);
        let options = tidings_store::Options::default();
        let store = ReopenableStore::directory(&data, Expected::Existing, options)
            .map_err(tidings_node::Error::from)?;
        let since = ends.0.saturating_sub(SystemClock.now().0);
        let clock: Arc<dyn Clock> = Arc::new(AheadClock(since));
        let channels = app::channels(&rules, &play::tokens(), &clock, &mailbox)?;
        let resolver = Arc::new(ObjectStateClient::new(None, Arc::clone(&clock)));
        let (now, settings) = (Arc::clone(&clock), Settings::default());
        let node = store.start(rules.clone(), channels, now, settings, resolver, None)?;
        let bounds = tidings_http::Settings::default();
        let service = Service::new(node.handle(), rules, Access::Open, clock, bounds);
        let text = play::RULES.to_owned();
        service.trials.set_source(ConfigSource { file: play::RULES_FILE.into(), text });
        let service = service.in_directory(&data).with_site(play::tokens()).with_caught(mailbox);
        Ok(Self { node, service: Arc::new(service), story })
    }

    /// Its pages and calls.
    fn router(&self) -> Router {
        let page = self.story.page().map_err(|fault| fault.to_string());
        let story = async || match page {
            Ok(html) => (HEADERS, Html(html)).into_response(),
            Err(fault) => (StatusCode::INTERNAL_SERVER_ERROR, HEADERS, fault).into_response(),
        };
        let server = tidings_http::router(Arc::clone(&self.service));
        Router::new().route("/", get(story)).fallback_service(server)
    }

    /// Serves until `stop` becomes true.
    ///
    /// # Errors
    /// The listener is of no use.
    pub(super) fn serve(
        self,
        runtime: &Runtime,
        listener: TcpListener,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let _inside = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let bounds = listen::Bounds::default();
        let server = listen::serve(listener, self.router(), bounds, std::future::pending());
        let server = runtime.spawn(server);
        let _ = runtime.block_on(stop.wait_for(|stop| *stop));
        // A browser keeps its connections open: they are cut, since nothing is lost by that.
        self.service.stop();
        server.abort();
        self.stop();
        Ok(())
    }

    /// Ends the node, which lets go of the store.
    fn stop(self) {
        // Whatever it does not end in time, the process does.
        let _ = self.node.stop_within(PATIENCE);
    }
}

#[cfg(test)]
mod tests;
