//! The example on a clock that is set: nothing waits for four minutes.

use std::sync::Arc;
use std::time::Duration;

use tidings_core::Instant;
use tidings_node::VirtualClock;

use super::*;

/// Longer than any machine needs: what never comes is named.
const PATIENCE: Duration = Duration::from_secs(60);

fn at(clock: &VirtualClock, instant: &str) {
    clock.set(Instant::parse(instant).unwrap());
}

#[test]
fn embedded_tidings_publish_run_and_hand_messages_over_until_they_are_answered() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(VirtualClock::default());
    at(&clock, "2024-01-01T12:00:00Z");
    let open = || Tidings::open_on(rules().unwrap(), data.path(), Arc::clone(&clock) as _).unwrap();
    let tidings = open();
    comment(&tidings, "c1", "Ben").unwrap();
    comment(&tidings, "c2", "Cy").unwrap();
    assert!(tidings.messages().try_recv().is_err(), "it is not due yet");
    // The same event again is the same event.
    comment(&tidings, "c1", "Ben").unwrap();
    let inbox = tidings.call("GET", "/v1/recipients/ana/inbox", &()).unwrap();
    assert_eq!(inbox["unseen"], 1, "one object: {inbox}");
    at(&clock, "2024-01-01T12:05:00Z");
    tidings.wake().unwrap();
    let message = tidings.messages().recv_timeout(PATIENCE).unwrap();
    assert_eq!((message.recipient.as_str(), message.channel.as_str()), ("ana", "sms"));
    assert_eq!(message.to, ["+15550100"]);
    assert_eq!(message.title, "Cy and Ben commented on Frames");
    // What is dropped was not sent: it comes again, after an opening too, under the same id.
    let id = message.id.clone();
    drop(message);
    tidings.close().unwrap();
    at(&clock, "2024-01-01T13:00:00Z");
    let tidings = open();
    let again = tidings.messages().recv_timeout(PATIENCE).unwrap();
    assert_eq!(again.id, id);
    again.sent();
    tidings.close().unwrap();
    at(&clock, "2024-01-02T12:00:00Z");
    let tidings = open();
    let event = tidings.call("GET", "/v1/events/c1", &()).unwrap();
    assert!(event.to_string().contains("delivered"), "{event}");
    assert!(tidings.messages().try_recv().is_err(), "it was sent");
    tidings.close().unwrap();
}

#[test]
fn embedded_tidings_say_what_is_wrong() {
    let data = tempfile::tempdir().unwrap();
    let tidings = Tidings::open(rules().unwrap(), data.path()).unwrap();
    let fault = tidings.publish(&json!({"type": "coment", "object": {"id": "o"}, "to": {}}));
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("did you mean `comment`?"), "{fault}");
    assert!(tidings.call("NO SUCH", "/v1/types", &()).is_err());
    let other = Tidings::open(rules().unwrap(), data.path());
    assert!(other.is_err(), "the directory is this one's");
    tidings.close().unwrap();
}
