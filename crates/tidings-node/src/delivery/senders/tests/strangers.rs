//! Tests of recipients and destinations that hold nobody else up.

use std::collections::BTreeSet;

use super::*;

/// A channel of which hosts that recipients name hang: it notes who is asked, and answers when the test says so.
#[derive(Default)]
struct Hanging {
    asked: Mutex<Vec<String>>,
    /// The hosts that hang.
    hosts: Mutex<Vec<&'static str>>,
    /// Takes an answer for each message that hangs, as long as there is one who gives them.
    answers: Mutex<Option<Receiver<()>>>,
}

impl Channel for Hanging {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let to = message.to.first().unwrap();
        self.asked.lock().unwrap().push(to.clone());
        assert!(go());
        if !self.hosts.lock().unwrap().iter().any(|host| to.contains(host)) {
            return Outcome::Sent(Receipt::default());
        }
        if let Some(answers) = &*self.answers.lock().unwrap() {
            let _over = answers.recv();
        }
        Outcome::Unknown { why: "answer: it took too long".to_owned() }
    }

    fn answers_for_all(&self) -> bool {
        false
    }
}

impl Hanging {
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn hook(number: u32, recipient: &str, host: &str) -> SendJob {
    let webhook = tidings_core::model::channel_kind("webhook").unwrap();
    let mut batch = batch(&format!("b{number}"), "A title");
    webhook.name.clone_into(&mut batch.channel);
    batch.recipient.id = tidings_core::Id::new(recipient).unwrap();
    let address = format!("https://{host}/{recipient}");
    batch.recipient.addresses = [(webhook.number, &*address)].into();
    SendJob::sample(number, batch)
}

fn hooks(channel: &Arc<Hanging>, clock: &Arc<VirtualClock>, by: Executor) -> Served {
    let webhook = tidings_core::model::channel_kind("webhook").unwrap();
    let design = tidings_mail::Design::short("webhook", &tidings_core::Rules::default()).unwrap();
    let renderer = crate::channel::ShortRenderer::new(design, webhook, None);
    let outlet = RenderingChannel::new(Arc::new(renderer), Arc::clone(channel) as _).on_threads(8);
    let channels = Channels::from([("webhook".to_owned(), outlet)]);
    Served::new(channels, Arc::clone(clock), by)
}

#[test]
fn a3_a_host_or_a_recipient_that_never_answers_has_a_quarter_of_the_threads_and_no_room_of_others()
{
    let channel_of = Arc::new(Hanging::default());
    let (over, answers) = channel();
    *channel_of.answers.lock().unwrap() = Some(answers);
    channel_of.hosts.lock().unwrap().push("hangs.example");
    let clock = clock();
    let mut senders = hooks(&channel_of, &clock, Executor::Threads);
    let count = 40 * ROOM as u32;
    for number in 0..count {
        // One recipient of one host, many recipients of one host, one recipient of many hosts.
        let (recipient, host) = match number % 3 {
            0 => ("ana".to_owned(), "a.hangs.example".to_owned()),
            1 => (format!("r{number}"), "b.hangs.example".to_owned()),
            _ => ("ben".to_owned(), format!("h{number}.hangs.example")),
        };
        senders.dispatch(hook(number, &recipient, &host));
    }
    // Whoever is well goes past all of them, message after message.
    for number in count..count + 20 {
        let well = hook(number, &format!("w{number}"), "well.example");
        senders.dispatch(well);
        let (job, reply) = senders.answers().recv().unwrap();
        assert!(matches!(reply.outcome, Outcome::Sent(_)), "{reply:?}");
        assert_eq!(job.message().number.0, number);
        senders.arrived(&job);
    }
    assert!(has_room(&senders, "webhook", Priority::Interactive));
    let hung = channel_of.asked();
    let count_of = |name: &str| hung.iter().filter(|to| to.contains(name)).count();
    assert!(count_of("//a.hangs.example") <= 2, "{hung:?}");
    assert!(count_of("//b.hangs.example") <= 2, "{hung:?}");
    assert!(count_of("/ben") <= 2, "{hung:?}");
    assert!(senders.kept_aside() as u32 >= count - 8);
    // What is kept aside can be taken back as all else.
    let taken = senders.take_back_all().len() as u32;
    assert!(taken >= count - 8, "{taken}");
    assert_eq!(senders.kept_aside(), 0);
    drop(over);
}

/// Sends a message to a host that is well, and waits for its answer.
fn sends(senders: &mut Served, number: u32, host: &str) {
    senders.dispatch(hook(number, &format!("w{number}"), host));
    let (job, reply) = senders.answers().recv().unwrap();
    assert!(matches!(reply.outcome, Outcome::Sent(_)), "{reply:?}");
    assert_eq!(job.message().number.0, number);
    senders.arrived(&job);
}

#[test]
fn b3_many_hosts_of_one_name_or_of_many_hold_up_nobody_who_has_answered() {
    let channel_of = Arc::new(Hanging::default());
    let (over, answers) = channel();
    *channel_of.answers.lock().unwrap() = Some(answers);
    channel_of.hosts.lock().unwrap().push("evil");
    let mut senders = hooks(&channel_of, &clock(), Executor::Threads);
    sends(&mut senders, 0, "well.example");
    for number in 1..=300 {
        let host = format!("h{number}.evil.example");
        senders.dispatch(hook(number, &format!("r{number}"), &host));
    }
    for number in 301..=320 {
        sends(&mut senders, number, "well.example");
    }
    // Whoever is new goes past them, too, but for the hosts that happen to be in the same group.
    let group = |host: &str| party::Party::group_of(host, false, 4);
    let new = (0..)
        .map(|number| format!("new{number}.example"))
        .filter(|host| group(host) != group("evil.example"));
    for (number, host) in (321..=330).zip(new) {
        sends(&mut senders, number, &host);
    }
    let asked = |name: &str| {
        let asked = channel_of.asked.lock().unwrap();
        asked.iter().filter(|to| to.contains(name)).count()
    };
    assert!(asked("evil") <= 1);
    // As many that have nothing in common.
    for number in 400..=700 {
        let host = format!("h.evil{number}.example");
        senders.dispatch(hook(number, &format!("r{number}"), &host));
    }
    for number in 701..=720 {
        sends(&mut senders, number, "well.example");
    }
    assert!(asked("evil") <= 4);
    // They are counted with their hosts, and taken back as all else.
    let taken = senders.take_back_all().len();
    assert!(taken >= 601 - 4, "{taken}");
    assert_eq!(senders.kept_aside(), 0);
    drop(over);
}

#[test]
fn b3_a_name_whose_hosts_answer_and_then_hang_has_a_quarter_of_the_threads() {
    let channel_of = Arc::new(Hanging::default());
    let (over, answers) = channel();
    *channel_of.answers.lock().unwrap() = Some(answers);
    let mut senders = hooks(&channel_of, &clock(), Executor::Threads);
    sends(&mut senders, 0, "well.example");
    for number in 1..=50 {
        sends(&mut senders, number, &format!("h{number}.evil.example"));
    }
    channel_of.hosts.lock().unwrap().push("evil");
    channel_of.asked();
    for number in 51..=350 {
        let host = format!("h{}.evil.example", number % 50 + 1);
        senders.dispatch(hook(number, &format!("r{number}"), &host));
    }
    for number in 351..=370 {
        sends(&mut senders, number, "well.example");
    }
    let asked = channel_of.asked();
    let hung = asked.iter().filter(|to| to.contains("evil")).count();
    assert!(hung <= 2, "{hung}");
    drop(over);
}

#[test]
fn b3_what_waits_leaves_in_order_once_hosts_answer() {
    let channel_of = Arc::new(Hanging::default());
    let (over, answers) = channel();
    *channel_of.answers.lock().unwrap() = Some(answers);
    channel_of.hosts.lock().unwrap().push("slow");
    let mut senders = hooks(&channel_of, &clock(), Executor::Threads);
    let host = |number: u32| format!("h{}.slow{}.example", number % 7, number % 3);
    for number in 0..500 {
        senders.dispatch(hook(number, &format!("r{}", number % 40), &host(number)));
    }
    let aside = |number| {
        let party = Party::Destination(host(number).into());
        senders.kept_aside_for("webhook", &party)
    };
    while senders.kept_aside() < 496 {
        std::thread::yield_now();
    }
    let counted: usize = (0..21).map(aside).sum();
    // What waits for its recipient counts for it.
    assert!((300..500).contains(&counted), "{counted}");
    // From now on all of them answer.
    channel_of.hosts.lock().unwrap().clear();
    drop(over);
    let mut left: BTreeSet<u32> = (0..500).collect();
    while !left.is_empty() {
        let (job, _) = senders.answers().recv().unwrap();
        assert!(left.remove(&job.message().number.0));
        senders.arrived(&job);
    }
    assert!(senders.is_idle());
    assert_eq!(senders.kept_aside(), 0);
    assert!((0..21).all(|number| {
        let party = Party::Destination(host(number).into());
        senders.kept_aside_for("webhook", &party) == 0
    }));
}

#[test]
fn a3_a_host_that_hangs_is_left_alone_its_messages_wait_and_probes_bring_it_back() {
    let channel_of = Arc::new(Hanging::default());
    channel_of.hosts.lock().unwrap().push("hangs.example");
    let clock = clock();
    let mut senders = hooks(&channel_of, &clock, Executor::Hand);
    let next = |senders: &mut Served| {
        senders.send_next().then(|| {
            let (job, reply) = senders.answers().recv().unwrap();
            senders.arrived(&job);
            reply
        })
    };
    for number in 0..1_000 {
        senders.dispatch(hook(number, &format!("r{number}"), "hangs.example"));
    }
    for number in 1_000..1_010 {
        senders.dispatch(hook(number, &format!("r{number}"), "well.example"));
    }
    let mut sent = 0;
    while let Some(reply) = next(&mut senders) {
        sent += usize::from(matches!(reply.outcome, Outcome::Sent(_)));
    }
    assert_eq!(sent, 10, "the others pass");
    let asked = channel_of.asked();
    let hung = asked.iter().filter(|to| to.contains("hangs")).count();
    assert!((3..=5).contains(&hung), "{hung}");
    assert_eq!(senders.kept_aside(), 1_000 - hung, "the others wait, and are counted");
    let away = senders.channels.left_alone(clock.now());
    let [(name, away)] = &away[..] else {
        panic!("{away:?}");
    };
    assert_eq!((&**name, away.destination.as_deref()), ("webhook", Some("hangs.example")));
    assert!(away.why.contains("too long"), "{away:?}");
    // A day of it costs few calls.
    for second in 0..24 * 3_600 {
        clock.set(Instant(second * 1_000));
        while next(&mut senders).is_some() {}
    }
    let probes = channel_of.asked().len();
    assert!((100..400).contains(&probes), "{probes}");
    channel_of.hosts.lock().unwrap().clear();
    clock.set(Instant(25 * 3_600_000));
    let reply = next(&mut senders).unwrap();
    assert_eq!(&*reply.back.destinations, ["hangs.example".into()]);
    while next(&mut senders).is_some() {}
    assert!(senders.is_idle());
    assert_eq!(channel_of.asked().len(), 1_000 - hung - probes);
}

#[test]
fn a3_a_message_to_several_hosts_goes_to_those_that_are_not_away() {
    let webpush = tidings_core::model::channel_kind("webpush").unwrap();
    let channel_of = Arc::new(Hanging::default());
    channel_of.hosts.lock().unwrap().push("hangs.example");
    let design = tidings_mail::Design::short("webpush", &tidings_core::Rules::default()).unwrap();
    let renderer = crate::channel::ShortRenderer::new(design, webpush, None);
    let outlet = RenderingChannel::new(Arc::new(renderer), Arc::clone(&channel_of) as _);
    let channels = Channels::from([("webpush".to_owned(), outlet)]);
    let mut senders = Served::new(channels, clock(), Executor::Hand);
    let (p256dh, auth) = ("B".repeat(87), "a".repeat(22));
    let endpoint = |host: &str| {
        format!(
            r#"{{"endpoint":"https://{host}/x","keys":{{"p256dh":"{p256dh}","auth":"{auth}"}}}}"#
        )
    };
    let both = [endpoint("hangs.example"), endpoint("well.example")];
    for number in 0..20 {
        let mut batch = batch(&format!("b{number}"), "A title");
        "webpush".clone_into(&mut batch.channel);
        batch.recipient.addresses.set(webpush.number, &both);
        senders.dispatch(SendJob::sample(number, batch));
        assert!(senders.send_next());
        let (job, reply) = senders.answers().recv().unwrap();
        senders.arrived(&job);
        assert!(matches!(reply.outcome, Outcome::Sent(_)), "{reply:?}");
    }
    let asked = channel_of.asked();
    assert_eq!(asked.iter().filter(|to| to.contains("well")).count(), 20);
    assert_eq!(asked.iter().filter(|to| to.contains("hangs")).count(), 5);
}

#[test]
fn a_provider_that_takes_nothing_for_one_domain_is_asked_for_the_others() {
    let refuses = Outcome::Away {
        scope: Scope::Destination,
        why: "RCPT: 550 5.7.1".to_owned(),
        after_ms: None,
    };
    let only = Told::saying(vec![refuses; 5]);
    let mut bench = Bench::new(&[&only], (None, None));
    let put = |bench: &mut Bench, number: u32, domain: &str| {
        let mut batch = batch(&format!("b{number}"), "A title");
        batch.recipient.addresses = [(EMAIL_NO, &*format!("r{number}@{domain}"))].into();
        bench.senders.dispatch(SendJob::sample(number, batch));
    };
    (0..9).for_each(|number| put(&mut bench, number, "refuses.example"));
    (10..13).for_each(|number| put(&mut bench, number, "Other.example"));
    while bench.next().is_some() {}
    assert_eq!(only.asked(), [0, 1, 2, 3, 4, 10, 11, 12]);
    bench.clock.set(Instant(60_000));
    let reply = bench.next().unwrap();
    assert_eq!(&*reply.back.destinations, ["refuses.example".into()]);
    while bench.next().is_some() {}
    assert_eq!(only.asked(), [5, 6, 7, 8]);
}

#[test]
fn o7_a_job_without_a_recipient_has_its_host_share_breaker_and_place_in_the_table() {
    let channel_of = Arc::new(Hanging::default());
    channel_of.hosts.lock().unwrap().push("hangs.example");
    let clock = clock();
    let mut senders = hooks(&channel_of, &clock, Executor::Hand);
    for number in 0..20 {
        let host = if number < 10 { "hangs.example" } else { "well.example" };
        let mut job = hook(number, "r1", host);
        let head = MessageHead { recipient: None, lane: String::new(), ..(*job.head).clone() };
        job.head = Arc::new(head);
        senders.dispatch(job);
    }
    while senders.send_next() {
        let (job, _) = senders.answers().recv().unwrap();
        senders.arrived(&job);
    }
    let asked = channel_of.asked();
    assert_eq!(asked.iter().filter(|to| to.contains("well")).count(), 10);
    let hung = asked.len() - 10;
    assert!((3..=5).contains(&hung), "{hung}");
    let party = Party::Destination("hangs.example".into());
    assert_eq!(senders.kept_aside_for("webhook", &party), 10 - hung);
    assert_eq!(senders.take_back_all().len(), 10 - hung);
    assert!(senders.is_idle());
}
