//! Fixtures that the runtime's tests share: rules, commands, channels that do as they are told.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use tidings_core::content::{Batch, ContentHash, Totals};
use tidings_core::engine::{MessagesInRetry, Published, PublishedAs, Refused, Reply};
use tidings_core::model::{Audience, EMAIL, EMAIL_NO, RecipientChange, View};
use tidings_core::rules::{
    Category, Defaults, Digest, Every, Policy, Route, StoreRules, TypeRules,
};
use tidings_core::{Command, Day, Event, Id, Instant, Object, Rules};
use tidings_node::channel::{
    Channel, Durability, MailRenderer, Maildir, MessageHead, Outcome, Receipt, Rendered, Renderer,
    RenderingChannel, Unrenderable,
};
use tidings_node::{
    Delivery, DurableSnapshot, Handle, OpenStore, Retries, Runtime, RuntimeError, Settings,
    VirtualClock,
};
use tidings_store::{Commit, Expected, FaultStore, FjallStore, Snapshot, Store, StoreId};

/// The store of a test, made where there is none.
const NEW_STORE: Expected = Expected::OrNew(StoreId([0; 16]));

/// 2024-01-01T00:00:00Z, a Monday.
pub(crate) const MONDAY: Instant = Instant(1_704_067_200_000);

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

/// `bill` leaves at once, `note` with the digest at 09:00 UTC.
pub(crate) fn rules() -> Rules {
    let kind = |policy| TypeRules {
        category: "all".to_owned(),
        channels: BTreeMap::from([(EMAIL.to_owned(), Route::of(policy))]),
        ..TypeRules::default()
    };
    let daily = Digest::new(Every::Day, 9 * 60);
    let digest = Policy::Digest { digest: "daily".to_owned() };
    Rules {
        defaults: Defaults::default(),
        categories: BTreeMap::from([("all".to_owned(), Category::default())]),
        digests: BTreeMap::from([("daily".to_owned(), daily)]),
        types: BTreeMap::from([
            ("bill".to_owned(), kind(Policy::Now)),
            ("note".to_owned(), kind(digest)),
        ]),
        store: StoreRules::default(),
        channels: BTreeMap::new(),
        limits: tidings_core::model::Limits::default(),
        presentation: Default::default(),
        caps: Vec::new(),
        resolver: None,
        feedback: Default::default(),
        ..Rules::default()
    }
}

pub(crate) fn person(name: &str) -> Command {
    Command::Recipient(Box::new(RecipientChange {
        addresses: [(EMAIL_NO, vec![format!("{name}@example.org").into()])].into(),
        ..RecipientChange::nothing(id(name))
    }))
}

pub(crate) fn publish(event: &str, kind: &str, who: &str) -> Command {
    Command::Publish(Box::new(Event::new(
        id(event),
        id(kind),
        Object {
            id: id(&format!("object-of-{event}")),
            title: Some(format!("About {event}").into()),
            url: Some(format!("https://example.org/{event}")),
            image: None,
            image_size: None,
            data: None,
            notifiable: None,
        },
        Audience { recipients: vec![id(who)], ..Audience::default() },
    )))
}

/// The one publish of a request that was answered.
pub(crate) fn published(answer: &[Result<Reply, Refused>]) -> PublishedAs {
    match answer {
        [Ok(Reply::Published(Published { status, .. }))] => *status,
        other => panic!("{other:?}"),
    }
}

/// A renderer of batches as they are.
struct Plain;

impl Renderer for Plain {
    fn render(&self, head: &Arc<MessageHead>, batch: &Batch) -> Result<Rendered, Unrenderable> {
        Ok(Rendered {
            head: Arc::clone(head),
            from: String::new(),
            return_path: None,
            to: Vec::new(),
            message_id: head.id.clone(),
            bytes: format!("{batch:?}").into_bytes(),
            content: ContentHash::default(),
        })
    }
}

/// A channel that gets batches as they are, with one thread: the order is the order in which messages leave.
pub(crate) fn plain(channel: Arc<impl Channel + 'static>) -> RenderingChannel {
    RenderingChannel::new(Arc::new(Plain), channel).on_threads(1)
}

/// A channel that says what it is handed, and then answers what it is told to, or waits until it is.
pub(crate) struct Gate {
    handed: Mutex<Sender<Rendered>>,
    answers: Mutex<Receiver<Outcome>>,
    /// Number of batches it has answered.
    pub(crate) answered: AtomicUsize,
}

/// The other side of a gate.
pub(crate) struct AnswerRecorder {
    pub(crate) handed: Receiver<Rendered>,
    pub(crate) answers: Sender<Outcome>,
}

impl Gate {
    pub(crate) fn new() -> (Arc<Self>, AnswerRecorder) {
        let ((handed, see), (answers, told)) = (channel(), channel());
        let gate = Self {
            handed: Mutex::new(handed),
            answers: Mutex::new(told),
            answered: AtomicUsize::new(0),
        };
        let keeper = AnswerRecorder { handed: see, answers };
        (Arc::new(gate), keeper)
    }
}

impl AnswerRecorder {
    /// The next message that is handed over, which then waits for its answer.
    pub(crate) fn next(&self) -> MessageHead {
        Arc::unwrap_or_clone(self.handed.recv().unwrap().head)
    }

    pub(crate) fn answer(&self, outcome: Outcome) {
        self.answers.send(outcome).unwrap();
    }

    /// Lets the batch pass that waits.
    pub(crate) fn pass(&self) {
        self.answer(Outcome::Sent(Receipt::default()));
    }

    pub(crate) fn later(&self) {
        self.answer(Outcome::Retry { why: "busy".to_owned(), after_ms: None });
    }
}

impl Channel for Gate {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let told = self.handed.lock().unwrap().send(message.clone());
        // A gate without a keeper is closed for good.
        let answer = told.ok().and_then(|()| self.answers.lock().unwrap().recv().ok());
        self.answered.fetch_add(1, Ordering::SeqCst);
        answer.unwrap_or(Outcome::Retry { why: "closed".to_owned(), after_ms: None })
    }
}

/// A channel that counts what it takes, and takes everything.
#[derive(Default)]
pub(crate) struct Counter(pub(crate) AtomicUsize);

impl Channel for Counter {
    fn send(&self, _message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        self.0.fetch_add(1, Ordering::SeqCst);
        Outcome::Sent(Receipt::default())
    }
}

pub(crate) fn maildir(dir: &Path) -> RenderingChannel {
    let sender = tidings_mail::Sender::parse("Art <art@example.org>").unwrap();
    let maildir = Maildir::open(dir, Durability::Each).unwrap();
    RenderingChannel::new(Arc::new(MailRenderer::plain(sender)), Arc::new(maildir)).on_threads(1)
}

/// The files that wait to be read in a Maildir.
pub(crate) fn mails(dir: &Path) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(dir.join("new")).unwrap();
    files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

pub(crate) fn settings() -> Settings {
    Settings { reopen_ms: 1, ..Settings::default() }
}

pub(crate) fn start(
    open: OpenStore,
    mail: RenderingChannel,
    clock: &Arc<VirtualClock>,
    settings: Settings,
) -> Runtime {
    start_under(rules(), open, mail, clock, settings)
}

pub(crate) fn start_under(
    rules: Rules,
    open: OpenStore,
    mail: RenderingChannel,
    clock: &Arc<VirtualClock>,
    settings: Settings,
) -> Runtime {
    let channels = BTreeMap::from([(EMAIL.to_owned(), mail)]);
    let delivery = Delivery::new(channels, Retries::default());
    let clock = Arc::clone(clock);
    Runtime::start(open, rules, delivery, clock, settings).unwrap()
}

/// A clock that was put.
pub(crate) fn clock(now: Instant) -> Arc<VirtualClock> {
    let clock = VirtualClock::default();
    clock.set(now);
    Arc::new(clock)
}

pub(crate) fn over(store: &Arc<dyn Store>) -> OpenStore {
    let store = Arc::clone(store);
    Box::new(move || Ok(Arc::clone(&store)))
}

pub(crate) fn on_disk(dir: &Path) -> OpenStore {
    let dir = dir.to_owned();
    Box::new(move || {
        let store = FjallStore::open(&dir, NEW_STORE, tidings_store::Options::default())?;
        Ok(Arc::new(store) as Arc<dyn Store>)
    })
}

/// The messages that wait for a retry, of a recipient or all.
pub(crate) fn retrying(handle: &Handle, of: Option<&str>) -> MessagesInRetry {
    let of = of.map(id);
    let read = |node: &DurableSnapshot| {
        node.engine().reader(node.view()).retrying(of.as_ref(), &View::All, 10)
    };
    handle.look(read).unwrap().unwrap()
}

/// The books once nothing waits any more.
pub(crate) fn settled(handle: &Handle) -> Totals {
    loop {
        let books = handle.look(|node| node.books().map_err(|fault| fault.to_string()));
        match books {
            Ok(Ok(books)) if books.pending == 0 => {
                assert!(books.balance(), "{books:?}");
                return books;
            }
            Ok(Ok(_)) | Err(RuntimeError::Unavailable(_)) => std::thread::yield_now(),
            Ok(Err(fault)) => panic!("{fault}"),
            Err(fault) => panic!("{fault}"),
        }
    }
}

/// Waits until the loop has gone round, and what was asked before has been made and handed out.
pub(crate) fn round(handle: &Handle) {
    // What is asked for is decided, then durable, then handed out.
    for _ in 0..3 {
        handle.submit(Vec::new()).unwrap();
    }
}

/// A store whose commits wait, once it is asked to, until they are let through.
pub(crate) struct Held {
    store: Arc<FaultStore>,
    commits: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

impl Held {
    pub(crate) fn over(store: Arc<FaultStore>) -> Self {
        let commits = Mutex::default();
        Self { store, commits }
    }

    /// Has the next commit wait: (tells when it is there, lets it go on).
    pub(crate) fn hold(&self) -> (Receiver<()>, Sender<()>) {
        let ((arrive, arrived), (release, released)) = (channel(), channel());
        *self.commits.lock().unwrap() = Some((arrive, released));
        (arrived, release)
    }
}

impl Store for Held {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, tidings_store::Error> {
        self.store.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), tidings_store::Error> {
        let held = self.commits.lock().unwrap().take();
        if let Some((arrive, released)) = held {
            arrive.send(()).unwrap();
            let _released = released.recv();
        }
        self.store.commit(commit)
    }

    fn days(&self) -> Result<Vec<Day>, tidings_store::Error> {
        self.store.days()
    }

    fn forget(&self, day: Day) -> Result<(), tidings_store::Error> {
        self.store.forget(day)
    }
}

pub(crate) type Answers = Result<Vec<Result<Reply, Refused>>, RuntimeError>;

/// Asks; it has been queued when this returns.
pub(crate) fn ask(handle: &Handle, commands: Vec<Command>) -> Receiver<Answers> {
    let (answer, answered) = channel();
    handle.submit_then(commands, move |replies| answer.send(replies).unwrap()).unwrap();
    answered
}
