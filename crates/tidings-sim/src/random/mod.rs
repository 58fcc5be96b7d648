//! Random small worlds: few of everything, so that interesting things collide often.
//!
//! A world is built from plain numbers. What a number cannot mean at its place (a type that is not
//! configured then, somebody who was erased) is left out, so every step is one that must be played,
//! and removing steps from a failing world keeps it a world.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use tidings_core::{Instant, Rules};

use crate::subject::Step;
use crate::text;

pub use raw::{RECIPIENTS, TENANTS};

mod ops;
mod raw;
mod rules;
mod tenants;

/// A timeline with its first rules.
#[derive(Clone, PartialEq)]
pub struct World {
    /// The first rules.
    pub rules: Rules,
    /// The steps, in order of time.
    pub steps: Vec<Step>,
    /// The instant at which the clock stops.
    pub until: Option<Instant>,
}

/// Percentage of the compared worlds that have tenants.
pub const WITH_TENANTS: u8 = 25;

/// Worlds of up to 80 steps.
pub fn world() -> impl Strategy<Value = World> {
    world_of(1..80, WITH_TENANTS)
}

/// Worlds of N steps after the recipients and subscriptions; a percentage of them has tenants.
pub fn world_of(steps: std::ops::Range<usize>, with_tenants: u8) -> impl Strategy<Value = World> {
    let people = vec(raw::raw_person(), 3..9);
    let follows = vec((0..8_u8, 0..6_u8, 0..=raw::TENANTS), 0..12);
    let until = proptest::option::weighted(0.2, 0..raw::GAPS);
    (
        rules::raw_rules(with_tenants),
        0..ops::BASES,
        people,
        follows,
        vec(raw::raw_step(), steps),
        until,
    )
        .prop_map(|(rules, base, people, follows, steps, until)| {
            ops::build(rules, base, &people, &follows, &steps, until)
        })
}

impl fmt::Debug for World {
    /// The configuration and the timeline as text, ready to be played by hand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}", text::toml(&self.rules))?;
        for step in &self.steps {
            match step {
                Step::Play(timed) => match text::line(timed) {
                    Some(line) => writeln!(f, "{line}")?,
                    None => writeln!(f, "{} {:?}", timed.at, timed.command)?,
                },
                Step::Reconfigure(at, rules) => {
                    writeln!(f, "{at} from now on:")?;
                    for line in text::toml(rules).lines() {
                        writeln!(f, "    {line}")?;
                    }
                }
            }
        }
        match self.until {
            Some(until) => writeln!(f, "until {until}"),
            None => Ok(()),
        }
    }
}
