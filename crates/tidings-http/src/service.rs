//! The state that all calls share: the node, the rules in force, the bounds.

mod dry;
pub(crate) mod streams;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tidings_config::wording::quoted;
use tidings_core::engine::Reply;
use tidings_core::model::Author;
use tidings_core::{Command, Instant, Rules};
use tidings_mail::TokenKey;
use tidings_node::channel::{CaughtMailbox, Channels};
use tidings_node::{
    AnswerRecorder, Clock, DurableSnapshot, Handle, IdempotencyHit, KeptAnswer, KeyChange, KeyHash,
    Once, RuntimeError,
};
use tidings_store::FjallStore;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::answer::{Answer, answer_of, not_made, only};
use super::cluster::Cluster;
use super::cluster::own_shards::OwnShards;
use super::error::{Code, Problem};
use super::live::Live;
use super::settings::Settings;
use crate::change::Change;
use crate::change::event_ids::EventIds;
use crate::change::origin::origin;
use crate::cluster::split::{NODES_CALL, OwnReplies, Replies};
use crate::counters::requests::Requests;
use crate::feeds::Feeds;
use crate::owners::Owners;
use crate::reports::state::{FEEDBACK, Feedback};
use crate::shares::bytes::{ByteBounds, ByteRoom};
use crate::shares::caller;
use crate::shares::places::Places;
use crate::shares::refusals::Refusals;
use crate::site_state::{NAMES, Site};
use crate::trials::Trials;
use crate::users::preference_rate::PreferenceRate;

/// The most reads at once: each has a thread, and some wait for the disk.
const READERS_MAX: usize = 8;

/// The most reads that wait for a thread or have one; one more is refused, and so is one beyond a caller's share.
const READS_MAX: usize = 1024;

/// Maximum number of backups at once: each holds a thread and a snapshot of the store.
const BACKUPS_MAX: usize = 2;

/// Maximum number of exports at once.
const EXPORTS_MAX: usize = 2;

/// The callers that the API accepts.
#[derive(Debug)]
pub enum Access {
    /// Anybody: `--dev`.
    Open,
    /// The process that has opened the store for calls of its own, in the name of an author.
    Own(Author),
    /// Holders of an API key of the store.
    Keys {
        /// The hash of another key, of this start alone.
        token: Option<KeyHash>,
    },
}

/// The service: the state that the calls of one server share.
pub struct Service {
    pub(super) handle: Handle,
    pub(super) access: Access,
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: EventIds,
    pub(super) requests: Requests,
    data: Option<PathBuf>,
    /// The shards that the node serves, and the nodes that serve the others.
    pub(super) shards: OwnShards,
    started: Instant,
    /// Room for the bodies of callers with a key.
    pub(super) bodies: ByteRoom,
    /// Room for the bodies of end users.
    pub(super) user_bodies: ByteRoom,
    /// Room for the bodies that anybody may send.
    pub(super) open_bodies: ByteRoom,
    /// Room for answers that are not read yet.
    pub(super) answers: ByteRoom,
    /// Refusals of recipients who have had their share.
    pub(super) refusals: Refusals,
    backups: Arc<Semaphore>,
    /// Room for exports, of which a caller reads one at a time.
    pub(super) exports: Places,
    /// Places for reads.
    pub(super) reads: Places,
    stopping: watch::Sender<bool>,
    rules: RwLock<Arc<Rules>>,
    /// The pages that mails link to; `None` without links.
    pub(super) site: Option<Arc<Site>>,
    /// The messages that `caught://` keeps.
    pub caught: Arc<CaughtMailbox>,
    /// Changes of the configuration that are tried.
    pub trials: Trials,
    /// The streams of inboxes.
    pub(super) live: Arc<Live>,
    /// Reports of providers, counted, and what is kept between their calls.
    pub(super) feedback: Feedback,
    pub(super) feeds: Feeds,
    /// The rate at which end users change preferences.
    pub(super) preference_rate: PreferenceRate,
}

/// A request to the node.
pub(super) type PendingReply<T> = oneshot::Receiver<Result<T, Problem>>;

impl Service {
    /// A service over a node that runs under these rules.
    #[must_use]
    pub fn new(
        handle: Handle,
        rules: Rules,
        access: Access,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        let room = |all_max, of_one_max, patience| {
            ByteRoom::new(ByteBounds { all_max, of_one_max, patience })
        };
        let Settings { body_patience, open_body_patience, .. } = settings;
        Self {
            access,
            bodies: room(settings.bodies_bytes_max, settings.bodies_bytes_max, body_patience),
            user_bodies: room(
                settings.user_bodies_bytes_max,
                settings.user_bodies_share_bytes_max,
                open_body_patience,
            ),
            open_bodies: room(
                settings.open_bodies_bytes_max,
                settings.open_bodies_peer_bytes_max,
                open_body_patience,
            ),
            answers: room(
                settings.answers_bytes_max,
                settings.answers_share_bytes_max,
                Duration::ZERO,
            ),
            refusals: Refusals::new(settings.refusal_delay),
            backups: Arc::new(Semaphore::new(BACKUPS_MAX)),
            exports: Places::new(EXPORTS_MAX, EXPORTS_MAX).one_each(),
            reads: Places::new(READERS_MAX, READS_MAX),
            ids: EventIds::default(),
            requests: Requests::of(
                super::call_names().into_iter().chain(NAMES).chain([FEEDBACK, NODES_CALL]),
            ),
            data: None,
            live: Live::new(handle.clone()),
            shards: OwnShards::default(),
            started: clock.now(),
            stopping: watch::Sender::new(false),
            settings,
            clock,
            rules: RwLock::new(Arc::new(rules)),
            site: None,
            caught: Arc::default(),
            trials: Trials::default(),
            feedback: Feedback::default(),
            feeds: Feeds::default(),
            preference_rate: PreferenceRate::default(),
            handle,
        }
    }

    /// The same with the pages to which mails lead by tokens of this key.
    #[must_use]
    pub fn with_site(self, tokens: TokenKey) -> Self {
        let site = Arc::new(Site::new(&self.rules(), tokens));
        self.live.show_as(&site);
        Self { site: Some(site), ..self }
    }

    /// The same with the messages that `caught://` keeps.
    #[must_use]
    pub fn with_caught(self, caught: Arc<CaughtMailbox>) -> Self {
        Self { caught, ..self }
    }

    /// The key of the tokens in links.
    #[must_use]
    pub fn tokens(&self) -> Option<&TokenKey> {
        self.site.as_deref().map(Site::tokens)
    }

    /// The same, which knows where on the disk the node's store is.
    #[must_use]
    pub fn in_directory(self, data: &Path) -> Self {
        Self { data: Some(data.to_owned()), ..self }
    }

    /// The same, which knows the nodes that share the store.
    #[must_use]
    pub fn in_cluster(self, cluster: Arc<Cluster>) -> Self {
        Self { shards: OwnShards { cluster: Some(cluster), ..self.shards }, ..self }
    }

    /// The shards of the store that the node has; `None` where it has ended.
    #[must_use]
    pub fn owners_of_node(&self) -> Option<Owners> {
        let owners = self.handle.look(|node| Owners::of(node.engine()));
        owners.ok()
    }

    /// The same, whose node has some shards of the store; what is of others is asked of the nodes of the cluster.
    #[must_use]
    pub fn with_shards(self, owners: Arc<Owners>) -> Self {
        Self { shards: OwnShards { owners: Some(owners), ..self.shards }, ..self }
    }

    /// The bytes that the store takes up on the disk, where there is one.
    pub(super) async fn disk_bytes(&self) -> Option<u64> {
        let data = self.data.clone()?;
        spawn_blocking(move || FjallStore::disk_bytes_of(data)).await.ok()?.ok()
    }

    /// Time for which the server has run; `None` where this is no server but a command that has a directory open.
    pub(super) fn uptime_seconds(&self) -> Option<u64> {
        if self.data.is_none() && self.shards.cluster.is_none() {
            return None;
        }
        let ms = self.now().0.saturating_sub(self.started.0).max(0);
        Some(ms.unsigned_abs() / 1000)
    }

    /// The rules that bodies are read by.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The node's clock.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The instant now, by the node's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Puts a configuration in force, first in the node. Blocks until it is durable.
    ///
    /// # Errors
    /// [`RuntimeError`]; the old one stays in force.
    pub fn configure(&self, rules: Rules, channels: Channels) -> Result<(), RuntimeError> {
        // The node comes first: bodies are read by new rules only once these are durable.
        self.handle.configure(rules.clone(), channels)?;
        if let Some(site) = &self.site {
            site.configure(&rules);
        }
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
        Ok(())
    }

    /// Streams end with the lines that they have read; `/readyz` announces that others should take over.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
        self.trials.comparisons.stop(self.now());
        self.feeds.end();
        self.end_streams();
    }

    pub(super) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Ends when the server begins to stop.
    pub(super) async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        // It can't be gone: the service has it.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// Submits commands, each to the node that serves it, in order; the answers come when they are durable.
    ///
    /// # Errors
    /// A [`Problem`] that concerns all of them; those of single commands are in the list.
    pub async fn submit(
        &self,
        commands: Vec<Command>,
    ) -> Result<Vec<Result<Reply, Problem>>, Problem> {
        let pending = self.ask(true, commands)?;
        self.answered(pending).await
    }

    /// The node's handle for the caller, whose answers wait for shards on other nodes, or do not.
    pub(super) fn handle_for(&self, waits: bool) -> Handle {
        let handle = self.handle.of(caller()).with_origin(origin());
        if waits { handle } else { handle.without_waiting() }
    }

    /// [`Service::submit`] without waiting; see [`Service::answered`].
    pub(super) fn ask(
        &self,
        waits: bool,
        commands: Vec<Command>,
    ) -> Result<PendingReply<Replies>, Problem> {
        self.ask_by(&self.handle_for(waits), waits, commands)
    }

    /// [`Service::ask`] by a handle.
    fn ask_by(
        &self,
        handle: &Handle,
        waits: bool,
        commands: Vec<Command>,
    ) -> Result<PendingReply<Replies>, Problem> {
        let (answer, answered) = oneshot::channel();
        let (mut split, cluster) = match self.shards.split_by_owner(commands) {
            Ok(commands) => {
                handle.submit_then(commands, move |replies| {
                    let _ = answer.send(replies.map(problems).map_err(Problem::from));
                })?;
                return Ok(answered);
            }
            Err(split) => split,
        };
        let here = std::mem::take(&mut split.here);
        // Commands of this node are handed in before others are sent, so that both are done at the same
        // time.
        let here = if here.is_empty() { None } else { Some(self.ask_here(handle, here)?) };
        let (patience, of) = (self.settings.answer_patience, origin());
        tokio::spawn(async move {
            let here = async {
                match here {
                    None => Ok(Vec::new()),
                    Some(pending) => within(patience, pending).await,
                }
            };
            let (remote, here) = tokio::join!(split.send(&cluster, waits, of), here);
            let _ = answer.send(match remote.failed_whole() {
                Some(problem) => Err(problem),
                None => Ok(remote.with(here)),
            });
        });
        Ok(answered)
    }

    /// Submits commands to this node alone.
    ///
    /// # Errors
    /// A [`Problem`] that concerns all of them.
    pub(super) fn ask_here(
        &self,
        handle: &Handle,
        commands: Vec<Command>,
    ) -> Result<PendingReply<OwnReplies>, Problem> {
        let (answer, answered) = oneshot::channel();
        handle.submit_then(commands, move |replies| {
            let _ = answer.send(replies.map_err(Problem::from));
        })?;
        Ok(answered)
    }

    /// Reads the state after the last durable commit, on a thread of its own.
    ///
    /// # Errors
    /// A [`Problem`] where there is none now, or too much is read.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&DurableSnapshot) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        self.read(move |handle| handle.look(look)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Handle) -> Result<T, RuntimeError> + Send + 'static,
    ) -> Result<T, Problem> {
        let mut place = self.reads.enter(caller())?;
        let handle = self.handle.clone();
        let reading = async move {
            let permit = place.turn().await;
            let read = spawn_blocking(move || {
                let seen = read(&handle);
                // The place is free once the thread is, even if the caller has given up waiting.
                drop(permit);
                seen
            });
            read.await
        };
        match timeout(self.settings.answer_patience, reading).await {
            Ok(Ok(seen)) => Ok(seen?),
            Ok(Err(fault)) => Err(Problem::new(Code::Internal, fault.to_string())),
            Err(_) => Err(too_late(self.settings.answer_patience)),
        }
    }

    /// Runs commands for a request that may have an `Idempotency-Key`. `answer` builds the response from the replies;
    /// it is kept with the work, so that the same request gets it again. A [`Problem`] of `answer` is not kept: the
    /// request may be sent again.
    ///
    /// Commands of other nodes come first then, and may be done twice if the request is: the answer is kept here, once
    /// all have been done.
    ///
    /// # Errors
    /// The [`Problem`] of `answer`, or one of a node.
    pub async fn change(
        &self,
        change: &Change,
        commands: Vec<Command>,
        answer: impl FnOnce(Vec<Result<Reply, Problem>>) -> Result<Answer, Problem> + Send + 'static,
    ) -> Result<Answer, Problem> {
        // No call may do what it was asked not to do, whatever its route forgets.
        change.before.ensure_done()?;
        let handle = self.handle_for(change.waits).expecting(change.before.expect);
        let Some(once) = change.once else {
            let pending = self.ask_by(&handle, change.waits, commands)?;
            return answer(self.answered(pending).await?);
        };
        let (mut split, cluster) = match self.shards.split_by_owner(commands) {
            Ok(commands) => {
                let own = |replies: OwnReplies| answer(problems(replies));
                return self.done_once(&handle, once, commands, own).await;
            }
            Err(split) => split,
        };
        // Looks for a kept answer first: a copy of a request that was done must send nothing to other nodes.
        let not_done = |_: OwnReplies| Err(Problem::new(Code::NotFound, ""));
        match self.done_once(&handle, once, Vec::new(), not_done).await {
            Err(problem) if problem.code == Code::NotFound => {}
            known => return known,
        }
        let here = std::mem::take(&mut split.here);
        let remote = split.send(&cluster, change.waits, origin()).await;
        // Nothing of this node is done then, and no answer is kept: the client may send the request again.
        if let Some(problem) = remote.failed {
            return Err(problem);
        }
        let all = move |here: OwnReplies| answer(remote.with(Ok(here)));
        self.done_once(&handle, once, here, all).await
    }

    /// Runs commands at this node, unless the same request was done before.
    async fn done_once(
        &self,
        handle: &Handle,
        once: Once,
        commands: Vec<Command>,
        answer: impl FnOnce(OwnReplies) -> Result<Answer, Problem> + Send + 'static,
    ) -> Result<Answer, Problem> {
        let (send, answered) = oneshot::channel();
        let keeper = AnswerKeeper { answer: Some(answer), made: None, send };
        handle.submit_once(once, commands, Box::new(keeper))?;
        self.answered(answered).await
    }

    /// Makes a change of one command, and answers no more than that it was done.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub async fn done(&self, change: &Change, command: Command) -> Result<Answer, Problem> {
        let done = |replies| only(replies).map(|_| Answer::done());
        self.change(change, vec![command], done).await
    }

    /// Changes the keys for a request that may carry an `Idempotency-Key`: then `kept` is stored, and given
    /// to the same request again.
    ///
    /// # Errors
    /// [`Code::KeyNotFound`] or the like, or a [`Problem`] of the node.
    pub(super) async fn change_keys(
        &self,
        request: &Change,
        change: KeyChange,
        kept: &Answer,
        answer: Answer,
    ) -> Result<Answer, Problem> {
        let (send, done) = oneshot::channel();
        let kept = request.once.map(|once| KeptAnswer { once, answer: kept.to_kept() });
        let then = move |done: Result<_, RuntimeError>| {
            let _ = send.send(done.map_err(Problem::from));
        };
        let code = match change {
            KeyChange::MakeSigning(_) | KeyChange::RevokeSigning(_) => Code::SigningKeyNotFound,
            KeyChange::EndSession(_) => Code::SessionNotFound,
            _ => Code::KeyNotFound,
        };
        let what = if code == Code::SessionNotFound { "session" } else { "key" };
        let unknown = format!("unknown {what} {}", quoted(change.id()));
        let handle = self.handle.of(caller()).with_origin(origin());
        handle.change_keys(self.now(), change, kept, then)?;
        match self.answered(done).await? {
            Some(kept) => answer_of(kept, || Ok(answer)),
            None => Err(Problem::new(code, unknown)),
        }
    }

    /// Waits for what was asked.
    pub(super) async fn answered<T>(&self, pending: PendingReply<T>) -> Result<T, Problem> {
        within(self.settings.answer_patience, pending).await
    }

    /// Room for one more backup, as long as what this gives is kept.
    pub(super) fn room_for_backup(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.backups).try_acquire_owned().ok()
    }
}

/// The replies of the node, as they are answered.
fn problems(replies: OwnReplies) -> Replies {
    replies.into_iter().map(|reply| reply.map_err(Problem::from)).collect()
}

/// Waits for what was asked, within a time limit.
async fn within<T>(patience: Duration, pending: PendingReply<T>) -> Result<T, Problem> {
    match timeout(patience, pending).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(RuntimeError::Stopped.into()),
        Err(_) => Err(too_late(patience)),
    }
}

fn too_late(patience: Duration) -> Problem {
    Problem::new(Code::TimedOut, format!("no answer within {} s", patience.as_secs_f32()))
}

/// Makes the answer of a request that is done once, keeps it, and sends it when it is durable.
struct AnswerKeeper<F> {
    answer: Option<F>,
    made: Option<Result<Answer, Problem>>,
    send: oneshot::Sender<Result<Answer, Problem>>,
}

impl<F> AnswerRecorder for AnswerKeeper<F>
where
    F: FnOnce(OwnReplies) -> Result<Answer, Problem> + Send,
{
    fn keep(&mut self, replies: OwnReplies) -> Option<Vec<u8>> {
        let answer = self.answer.take()?;
        let made = self.made.insert(answer(replies));
        made.as_ref().ok().map(Answer::to_kept)
    }

    fn send(self: Box<Self>, kept: Result<IdempotencyHit, RuntimeError>) {
        let Self { made, send, .. } = *self;
        let made = || made.unwrap_or_else(|| Err(not_made()));
        let answer = kept.map_err(Problem::from).and_then(|kept| answer_of(kept, made));
        // The caller may have gone.
        let _ = send.send(answer);
    }
}
