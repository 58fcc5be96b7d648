//! The pure core of tidings.
//!
//! All decisions are made here: the recipients of an event, the deadlines of lanes, the content of messages, and the
//! fold of all this from a journal of sets. Nothing here does I/O, reads a clock, draws a random number or awaits.
//! `cargo xtask tidy` and this crate's `clippy.toml` enforce that.
//!
//! # Examples
//!
//! An engine over rows in memory: Ada follows a work, somebody comments on it, and her inbox has it.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::ops::ControlFlow;
//!
//! use tidings_core::{Command, Id, Instant, Rules};
//! use tidings_core::engine::{Engine, InboxQuery, Options, Reach, Reply};
//! use tidings_core::journal::{Partition, ReadView, Unreadable, Write};
//!
//! let mut rows = Rows::default();
//! let mut engine = Engine::open(&rows, &[], Options::default())?;
//! let now = Instant::parse("2024-03-01T09:00:00Z")?;
//!
//! let comment = serde_json::from_str(
//!     r#"{"category": "social", "include_actor": false, "urgent": false,
//!         "channels": {"inbox": {"policy": "Now"}}}"#,
//! )?;
//! let rules = Rules { types: [("comment".to_owned(), comment)].into(), ..Rules::default() };
//! rows.commit(engine.set_rules(&rows, &Reach::new(), now, rules)?.writes);
//!
//! let ada = Id::new("ada")?;
//! let commands = [
//!     Command::Recipient(serde_json::from_str(r#"{"id": "ada"}"#)?),
//!     Command::Subscribe { recipient: ada.clone(), topic: Id::new("work/7")?, tenant: None },
//!     Command::Publish(serde_json::from_str(
//!         r#"{"id": "e1", "type": "comment", "object": {"id": "work/7"},
//!             "to": {"topics": ["work/7"]}}"#,
//!     )?),
//! ];
//! let step = engine.step(&rows, &Reach::new(), now, &commands)?;
//! // Durable before done: an answer may be shown once its writes are committed.
//! rows.commit(step.writes);
//! assert!(matches!(&step.replies[2], Ok(Reply::Published(event)) if event.entries == 1));
//!
//! // What was decided is stored: an engine that is opened later says the same.
//! let engine = Engine::open(&rows, &[now.day()], Options::default())?;
//! let inbox = engine.reader(&rows).inbox(&ada, &InboxQuery::newest(10))?;
//! assert_eq!(inbox.counts.unseen, 1);
//! assert_eq!(inbox.groups[0].items[0].event, Id::new("e1")?);
//!
//! /// A store as the core sees it.
//! #[derive(Default)]
//! struct Rows(BTreeMap<(Partition, Vec<u8>), Vec<u8>>);
//!
//! impl Rows {
//!     fn commit(&mut self, writes: Vec<Write>) {
//!         for Write { partition, key, value } in writes {
//!             match value {
//!                 Some(value) => self.0.insert((partition, key), value),
//!                 None => self.0.remove(&(partition, key)),
//!             };
//!         }
//!     }
//! }
//!
//! impl ReadView for Rows {
//!     fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
//!         Ok(self.0.get(&(partition, key.to_vec())).cloned())
//!     }
//!
//!     fn scan(
//!         &self,
//!         partition: Partition,
//!         from: &[u8],
//!         until: Option<&[u8]>,
//!         visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
//!     ) -> Result<(), Unreadable> {
//!         for ((at, key), value) in self.0.range((partition, from.to_vec())..) {
//!             let is_past = *at != partition || until.is_some_and(|until| &**key >= until);
//!             if is_past || visit(key, value).is_break() {
//!                 break;
//!             }
//!         }
//!         Ok(())
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod bucket;
pub mod cel;
pub mod codec;
pub mod content;
pub mod engine;
pub mod index;
pub mod journal;
pub mod model;
pub mod rules;
pub mod sets;

pub use model::{Command, Day, Event, Id, Instant, Object, Recipient};
pub use rules::Rules;
