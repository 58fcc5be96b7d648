//! Chores whose values are longer than the store takes.

use std::sync::Arc;

use tidings_core::Command;
use tidings_core::engine::Options;
use tidings_core::model::DAY_MS;
use tidings_node::{OpenStore, Settings};
use tidings_store::{FaultStore, NoFaults, Store};

use crate::world::*;

/// The longest value that the store takes: enough for a step, too little for the topics of a hundred
/// events.
const VALUE_BYTES_MAX: usize = 12_000;

/// Values that many commands make too long for a row are cut: neither steps nor chores fail, and another node reads them.
#[test]
fn c1_values_that_grow_too_long_make_neither_steps_nor_chores_fail() {
    let store = FaultStore::new(NoFaults).with_values_up_to(VALUE_BYTES_MAX);
    let store = Arc::new(store);
    let opened = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (shared, count) = (Arc::clone(&store), Arc::clone(&opened));
    let open: OpenStore = Box::new(move || {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(Arc::clone(&shared) as Arc<dyn Store>)
    });
    let options =
        Options { buckets: 1, index_after: Some(1), checkpoint_after: 40, ..Options::default() };
    let settings = Settings { options, ..settings() };
    let clock = clock(MONDAY);
    let mail = Arc::new(Counter::default());
    let runtime = start(open, plain(mail), &clock, settings);
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    for number in 0..400 {
        let topic = id(&format!("{number}-{}", "x".repeat(200)));
        let subscribe =
            Command::Subscribe { tenant: None, recipient: id("ann"), topic: topic.clone() };
        let event = match publish(&format!("e{number}"), "note", "ann") {
            Command::Publish(mut event) => {
                event.to.topics = vec![topic];
                Command::Publish(event)
            }
            other => other,
        };
        handle.submit(vec![subscribe, event]).unwrap();
    }
    assert_eq!(handle.vitals().refused_chores(), 0);
    assert_eq!(opened.load(std::sync::atomic::Ordering::SeqCst), 1);
    clock.set(MONDAY.plus_ms(DAY_MS));
    handle.submit(Vec::new()).unwrap();
    let books = settled(&handle);
    assert_eq!((books.events, books.delivered, books.resent), (400, 400, 0));
    runtime.stop().unwrap();
}
