//! `/metrics` in Prometheus text format. Every name and its meaning is here.
//!
//! Labels come from closed lists: calls, classes of status, channels, outcomes. No metric grows with
//! recipients or events.

pub(super) mod health;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::response::IntoResponse;
use tidings_core::engine::{DaysToList, Tally};
use tidings_core::model::{Answered, ChannelNo, Outcome, sending_channels};
use tidings_core::{Instant, Rules};
use tidings_node::{ChannelProvider, DurableSnapshot, ResolverVitals, Vitals};

use super::error::Problem;
use super::service::Service;
use super::v1::clock_behind_seconds;
use crate::counters::exposition::{self, MetricsPage, label, seconds};
use crate::feeds::OutboxFeedStatus;

/// The state of the node at a scrape.
struct Seen {
    now: Instant,
    oldest_due: BTreeMap<ChannelNo, Instant>,
    clock_behind_seconds: u64,
    recipients: u64,
    days_to_list: usize,
    kept_objects: u64,
    tally: Tally,
    entries: u64,
    notifications: u64,
    pending: u64,
    ended: BTreeMap<Outcome, u64>,
    days_forgotten: u64,
    paused: usize,
}

fn look(node: &DurableSnapshot, clock: Instant) -> Seen {
    let engine = node.engine();
    let days = engine.ledger();
    let forgotten = engine.forgotten_before();
    let days_forgotten = days.keys().filter(|day| forgotten.is_some_and(|first| **day < first));
    let mut seen = Seen {
        now: engine.now(),
        oldest_due: engine.open_closings().oldest_due_by_channel(),
        clock_behind_seconds: clock_behind_seconds(engine, clock).unwrap_or_default(),
        recipients: engine.recipients(),
        days_to_list: DaysToList::of(engine).0,
        kept_objects: engine.reader(node.view()).kept_objects(),
        tally: engine.tally(),
        entries: 0,
        notifications: 0,
        pending: 0,
        ended: BTreeMap::new(),
        days_forgotten: days_forgotten.count() as u64,
        paused: engine.paused().types().count() + engine.paused().channels().count(),
    };
    for row in days.values() {
        // What moved on is counted where it went.
        seen.entries += row.entries.saturating_sub(row.moved);
        seen.notifications += row.notifications;
        seen.pending += row.pending;
        for (outcome, count) in &row.ended {
            *seen.ended.entry(*outcome).or_default() += count;
        }
    }
    seen
}

/// Get the metrics
///
/// Returns the metrics in Prometheus's text format. Also answers while the store can't be used, with the metrics that
/// are available then.
#[utoipa::path(
    get, path = "/metrics", tag = "operating",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain", example = json!("tidings_up 1\ntidings_recipients 2\n")))
)]
pub(super) async fn metrics(State(service): State<Arc<Service>>) -> impl IntoResponse {
    let clock = service.now();
    let seen = service.look(move |node| look(node, clock)).await;
    let disk = service.disk_bytes().await;
    let mut text = text(&service, seen.as_ref(), disk);
    if let Some(cluster) = &service.shards.cluster {
        text.push_str(&cluster.metrics());
    }
    exposition::answer(text)
}

/// The ages of what waits longest, on all channels and on each.
fn oldest_due(page: &mut MetricsPage, service: &Service, seen: &Seen) {
    let now = service.now().max(seen.now);
    let age = |due: &Instant| now.0.saturating_sub(due.0).max(0);
    let oldest = seen.oldest_due.values().min();
    let rules = service.rules();
    let waiting = shown_at(&rules, "messages?state=planned&state=sending&state=retrying");
    page.gauge(
        "tidings_oldest_due_age_seconds",
        &format!("Age of the oldest overdue, unsent message, in seconds. Alert on this.{waiting}"),
        seconds(oldest.map_or(0, age)),
    );
    let by_channel = "tidings_channel_oldest_due_age_seconds";
    page.head(
        by_channel,
        &format!("Age of the oldest overdue, unsent message of a channel, in seconds.{waiting}"),
        "gauge",
    );
    for channel in sending_channels() {
        let age = seen.oldest_due.get(&channel.number).map(age);
        let is_shown = age.is_some() || rules.channels.contains_key(channel.name);
        if is_shown {
            let labels = format!("channel=\"{}\"", channel.name);
            page.sample(by_channel, &labels, seconds(age.unwrap_or_default()));
        }
    }
}

fn text(service: &Service, seen: Result<&Seen, &Problem>, disk: Option<u64>) -> String {
    let mut page = MetricsPage::default();
    if let Ok(seen) = seen {
        oldest_due(&mut page, service, seen);
        page.gauge(
            "tidings_clock_behind_seconds",
            "Seconds by which the clock is behind the newest step, if more than 60: it was ahead and was put right.",
            seen.clock_behind_seconds,
        );
    }
    page.gauge(
        "tidings_up",
        "1 if the store and the node can be used, 0 if the store failed or the node is too busy to answer.",
        u8::from(seen.is_ok()),
    );
    if let Ok(seen) = seen {
        node(&mut page, seen);
    }
    page.gauge(
        "tidings_live_streams",
        "Open streams of inboxes, and calls that wait for a change of one.",
        service.live.open_streams(),
    );
    let vitals = service.handle.vitals();
    page.gauge(
        "tidings_queue_requests",
        "Requests in the queue to the node.",
        service.handle.waiting(),
    );
    page.histogram(
        "tidings_step_duration_seconds",
        "Duration of a step of the node: deciding, writing, syncing.",
        &vitals.steps,
    );
    page.histogram(
        "tidings_commit_duration_seconds",
        "Duration of a commit, syncing included.",
        &vitals.commits,
    );
    channels(&mut page, vitals, &service.rules(), service.now());
    resolver(&mut page, &vitals.resolver);
    hooks(&mut page, vitals);
    page.counter(
        "tidings_clock_steps_back_total",
        "Number of times that the clock stepped back.",
        vitals.steps_back(),
    );
    page.counter(
        "tidings_chores_refused_total",
        "Number of times that the store refused a maintenance write.",
        vitals.refused_chores(),
    );
    if let Some(bytes) = disk {
        page.gauge("tidings_store_bytes", "Size of the data directory on disk, in bytes.", bytes);
    }
    page.head("tidings_http_requests_total", "Requests by call and class of status.", "counter");
    for (call, classes) in &service.requests.0 {
        for (class, count) in (1..).zip(classes) {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                let labels = format!("call=\"{call}\",status=\"{class}xx\"");
                page.sample("tidings_http_requests_total", &labels, count);
            }
        }
    }
    feeds(&mut page, service);
    page.head(
        "tidings_reports_total",
        "Reports about messages after they were handed over, by kind.",
        "counter",
    );
    for (kind, count) in service.feedback.counts().filter(|(_, count)| *count > 0) {
        page.sample("tidings_reports_total", &format!("kind=\"{kind}\""), count);
    }
    page.head("tidings_build_info", "The running version.", "gauge");
    page.sample("tidings_build_info", concat!("version=\"", env!("CARGO_PKG_VERSION"), "\""), 1);
    page.0
}

fn node(page: &mut MetricsPage, seen: &Seen) {
    page.gauge("tidings_recipients", "Number of recipients.", seen.recipients);
    page.gauge(
        "tidings_days_to_list",
        "Days before an upgrade with events or messages that lists do not show yet.",
        seen.days_to_list,
    );
    page.gauge(
        "tidings_objects_kept",
        "Objects of which the host gave something by `PUT`, until they are deleted.",
        seen.kept_objects,
    );
    page.counter("tidings_events_total", "Accepted events.", seen.tally.events);
    page.counter(
        "tidings_events_republished_total",
        "Publishes with an id that was already known: nothing happened.",
        seen.tally.republished,
    );
    page.counter(
        "tidings_warnings_total",
        "Unknown recipients and empty audiences.",
        seen.tally.warnings,
    );
    page.counter(
        "tidings_suppressed_total",
        "Recipients whom the admission of a type left out of an event.",
        seen.tally.suppressed,
    );
    page.counter(
        "tidings_messages_resent_total",
        "Messages that were sent again because the outcome of the first attempt was unknown.",
        seen.tally.resent,
    );
    page.counter(
        "tidings_notifications_total",
        "Pairs of event and recipient that have at least one entry.",
        seen.notifications,
    );
    page.counter(
        "tidings_entries_total",
        "Entries: one per notification and channel.",
        seen.entries,
    );
    page.gauge("tidings_entries_pending", "Pending entries.", seen.pending);
    let ended = "tidings_entries_ended_total";
    page.head(ended, "Ended entries, by outcome.", "counter");
    for outcome in Outcome::ALL {
        let count = seen.ended.get(&outcome).copied().unwrap_or_default();
        page.sample(ended, &format!("outcome=\"{}\"", outcome.word()), count);
    }
    page.counter("tidings_days_forgotten_total", "Deleted days.", seen.days_forgotten);
    page.gauge("tidings_paused", "Paused types and channels.", seen.paused);
}

/// The feeds that are read here.
fn feeds(page: &mut MetricsPage, service: &Service) {
    let shown = service.feeds.read_here();
    if shown.is_empty() {
        return;
    }
    let mut each = |name: &str,
                    help: &str,
                    kind: &str,
                    value: &dyn Fn(&OutboxFeedStatus) -> Option<String>| {
        page.head(name, help, kind);
        for (feed, status) in &shown {
            if let Some(value) = value(status) {
                page.sample(name, &format!("feed=\"{feed}\""), value);
            }
        }
    };
    let number = |number: u64| Some(number.to_string());
    each(
        "tidings_feed_up",
        "1 if the feed is read, 0 if it is paused, has stopped or has a fault.",
        "gauge",
        &|status| number(u64::from(status.is_read())),
    );
    each(
        "tidings_feed_lag_seconds",
        "Age of the oldest row that waits, in seconds.",
        "gauge",
        &|status| Some(seconds(i64::try_from(status.lag_ms?).unwrap_or(i64::MAX))),
    );
    each(
        "tidings_feed_rows_taken_total",
        "Rows that were taken, since the start.",
        "counter",
        &|status| number(status.taken),
    );
    each(
        "tidings_feed_rows_refused_total",
        "Rows that were refused, since the start.",
        "counter",
        &|status| number(status.refused),
    );
    each(
        "tidings_feed_rows_parked",
        "Rows that are parked in the table with their problem. Alert on this.",
        "gauge",
        &|status| number(status.parked),
    );
}

/// The questions to the host about objects.
fn resolver(page: &mut MetricsPage, resolver: &ResolverVitals) {
    page.counter(
        "tidings_resolver_objects_total",
        "Objects that the host was asked for.",
        resolver.requested(),
    );
    let questions = "tidings_resolver_questions_total";
    page.head(questions, "Questions to the host, by result.", "counter");
    for (result, count) in [("answered", resolver.answered()), ("failed", resolver.failed())] {
        page.sample(questions, &format!("result=\"{result}\""), count);
    }
    page.counter(
        "tidings_messages_unresolved_total",
        "Messages that were made without the host's word on all of their objects.",
        resolver.unresolved(),
    );
}

/// The hooks of this node.
fn hooks(page: &mut MetricsPage, vitals: &Vitals) {
    let all = vitals.hooks.all().unwrap_or_default();
    let backlog = "tidings_hook_backlog";
    let about = "Occurrences that a hook is still to be told. Alert on one that grows.";
    page.head(backlog, about, "gauge");
    for (hook, vitals) in &all {
        page.sample(backlog, &format!("hook=\"{hook}\""), vitals.backlog);
    }
    let off = "tidings_hook_off";
    page.head(off, "1 if a hook answered 410 and is off.", "gauge");
    for (hook, vitals) in &all {
        page.sample(off, &format!("hook=\"{hook}\""), u8::from(vitals.is_off));
    }
    let calls = "tidings_hook_calls_total";
    page.head(
        calls,
        "Calls of hooks since the start: sent, retried, or given up as failed.",
        "counter",
    );
    for (hook, vitals) in &all {
        let results =
            [("sent", vitals.sent), ("retried", vitals.retried), ("failed", vitals.failed)];
        for (result, count) in results {
            page.sample(calls, &format!("hook=\"{hook}\",result=\"{result}\""), count);
        }
    }
}

/// The sentence that names the page of the console which shows what a metric counts; empty without such a page.
fn shown_at(rules: &Rules, page: &str) -> String {
    let page = rules.console.as_ref().and_then(|console| console.page(page));
    page.map(|page| format!(" {page} shows them.")).unwrap_or_default()
}

/// The answers of the channels that have a provider, or had one since the start.
fn channels(page: &mut MetricsPage, vitals: &Vitals, rules: &Rules, now: Instant) {
    let messages = "tidings_messages_total";
    page.head(messages, "Answers of channels to messages, since the start.", "counter");
    for (channel, counts) in vitals.answers() {
        let configured = rules.channels.get(channel);
        let has_provider = configured.is_some_and(|rules| !rules.providers.is_empty());
        if !has_provider && counts.iter().all(|(_, count)| *count == 0) {
            continue;
        }
        for (answer, count) in counts {
            let labels = format!("channel=\"{channel}\",answer=\"{}\"", answer.name());
            page.sample(messages, &labels, count);
        }
    }
    let by_provider = "tidings_provider_answers_total";
    let failed = shown_at(rules, "messages?state=failed&state=retrying");
    let help = format!("Answers of providers to messages, since the start.{failed}");
    page.head(by_provider, &help, "counter");
    for (of, counts) in vitals.provider_answers() {
        let ChannelProvider { channel, provider } = of;
        for (answer, count) in Answered::TO_ATTEMPTS.iter().zip(counts) {
            let (provider, answer) = (label(&provider), answer.name());
            let labels =
                format!("channel=\"{channel}\",provider=\"{provider}\",answer=\"{answer}\"");
            page.sample(by_provider, &labels, count);
        }
    }
    page.gauge("tidings_messages_retrying", "Messages that wait for a retry.", vitals.retries());
    page.gauge(
        "tidings_messages_kept_aside",
        "Messages that wait for a recipient or a destination that has its share of the threads, or that takes nothing.",
        vitals.kept_aside(),
    );
    let away = "tidings_away";
    page.head(
        away,
        "Providers, and destinations of providers, that take nothing and are left alone.",
        "gauge",
    );
    let left_alone = vitals.left_alone(now);
    for (channel, rules) in &rules.channels {
        if rules.providers.is_empty() {
            continue;
        }
        let of_channel = left_alone.iter().filter(|(name, _)| name == channel);
        let destinations =
            of_channel.clone().filter(|(_, away)| away.destination.is_some()).count();
        let providers = of_channel.count() - destinations;
        for (what, count) in [("provider", providers), ("destination", destinations)] {
            page.sample(away, &format!("channel=\"{channel}\",what=\"{what}\""), count);
        }
    }
}
