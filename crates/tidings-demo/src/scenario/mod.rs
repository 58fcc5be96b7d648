//! The scenario: fourteen weeks of the museum's history as commands in order of time.
//!
//! First everybody is introduced; then the days pass: works and shows are announced, suggestions
//! made, minds changed, things seen, some works taken back before the Monday mail, an old day
//! forgotten. The dates are the museum's, the hours are ours (a working day in New York).

mod announce;
mod excerpt;
mod habits;

use serde::Serialize;
use tidings_core::model::{DAY_MS, HOUR_MS, MINUTE_MS, Timed};
use tidings_core::{Day, Id, Instant};

use super::world::{self, World};

/// The first day that is played, a Monday.
pub const FIRST_DAY: &str = "1967-12-04";
/// The last day that is played, a Monday, so that the week of the Atget prints is complete.
pub const LAST_DAY: &str = "1968-03-11";

/// Number of recipients that are introduced at one instant.
const INTRODUCED_AT_ONCE: usize = 1000;

/// The world and what happens in it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The museum and its recipients.
    pub world: World,
    /// The instant of the first introduction.
    pub starts: Instant,
    /// The end of the last day: run the clock until here, no further.
    pub ends: Instant,
    /// Andy Warhol's *Marilyn Monroe* portfolio comes to the museum: the event with one artist's
    /// greatest following, alone at its instant, so that its fan-out can be timed.
    pub warhol_event: Id,
    /// The instant of [`Scenario::warhol_event`].
    pub warhol_at: Instant,
    /// The week by week story.
    pub weeks: Vec<Week>,
    days: Vec<Timed>,
}

/// One week of the museum in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Week {
    /// Its Monday.
    #[serde(serialize_with = "as_text")]
    pub monday: Day,
    /// Works acquired.
    pub works: usize,
    /// Shows opened.
    pub shows: usize,
    /// The artist of most of the week's works, and how many; `None` in a week without works.
    pub foremost: Option<(String, usize)>,
}

/// The scenario in numbers, for the summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Recipients.
    pub recipients: usize,
    /// Cities in which at least one lives.
    pub cities: usize,
    /// IANA time zones in which at least one lives.
    pub zones: usize,
    /// Artists that can be followed.
    pub artists: usize,
    /// Follows on the first day.
    pub follows: usize,
    /// The most followed artist.
    pub most_followed: String,
    /// Number of their followers.
    pub most_followers: usize,
    /// Works acquired.
    pub works: usize,
    /// Shows opened.
    pub shows: usize,
    /// Events published: works, shows to followers, shows nearby, suggestions.
    pub events: usize,
}

/// The whole demo; always the same one.
#[must_use]
pub fn scenario() -> Scenario {
    let world = World::build();
    let first = day(FIRST_DAY);
    let (mut days, warhol_event, warhol_at) = announce::all(&world);
    days.extend(habits::all(&world, &days));
    // Stable: what was announced at an instant stands before what people do at it.
    days.sort_by_key(|timed| timed.at);
    Scenario {
        starts: first.start().plus_ms(-DAY_MS + 12 * HOUR_MS),
        ends: day(LAST_DAY).end(),
        warhol_event,
        warhol_at,
        weeks: weeks(&world),
        days,
        world,
    }
}

impl Scenario {
    /// All commands in the order of time: introductions, then the days.
    ///
    /// Commands of one instant belong to one step.
    pub fn commands(&self) -> impl Iterator<Item = Timed> + '_ {
        let introductions = self.world.people.iter().enumerate().flat_map(|(n, person)| {
            let minutes = i64::try_from(n / INTRODUCED_AT_ONCE).unwrap_or(0);
            let at = self.starts.plus_ms(minutes * MINUTE_MS);
            self.world.introduce(person).map(move |command| Timed { at, command })
        });
        introductions.chain(self.days.iter().cloned())
    }

    /// The number of commands that [`Scenario::commands`] gives, for progress.
    #[must_use]
    pub fn commands_count(&self) -> usize {
        let people = &self.world.people;
        let introductions: usize =
            people.iter().map(|p| 1 + p.choices.len() + p.follows.len()).sum();
        introductions + self.days.len()
    }

    /// Counts what the scenario holds.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let world = &self.world;
        let mut cities: Vec<usize> = world.people.iter().map(|person| person.city).collect();
        cities.sort_unstable();
        cities.dedup();
        let mut zones: Vec<&str> =
            cities.iter().map(|city| world.museum.cities[*city].zone.as_str()).collect();
        zones.sort_unstable();
        zones.dedup();
        Facts {
            recipients: world.people.len(),
            cities: cities.len(),
            zones: zones.len(),
            artists: world.museum.artists.len(),
            follows: world.followers.iter().map(Vec::len).sum(),
            most_followed: world.museum.artists[0].name.clone(),
            most_followers: world.followers[0].len(),
            works: world.museum.works.len(),
            shows: world.museum.shows.len(),
            events: self.days.iter().filter(|timed| is_publish(timed)).count(),
        }
    }
}

/// A day of the data.
fn day(date: &str) -> Day {
    Day::parse(date).expect("the dates of the compiled-in data are dates")
}

fn is_publish(timed: &Timed) -> bool {
    matches!(timed.command, tidings_core::Command::Publish(_))
}

fn weeks(world: &World) -> Vec<Week> {
    let (first, last) = (day(FIRST_DAY), day(LAST_DAY));
    (first.0..=last.0)
        .step_by(7)
        .map(|monday| {
            let week = monday..monday + 7;
            let works: Vec<_> = world
                .museum
                .works
                .iter()
                .filter(|work| week.contains(&day(&work.acquired).0))
                .collect();
            let mut by_artist = std::collections::BTreeMap::<usize, usize>::new();
            for place in works.iter().filter_map(|work| world.museum.place_of(work.artists[0])) {
                *by_artist.entry(place).or_default() += 1;
            }
            let foremost = by_artist.into_iter().max_by_key(|(place, n)| (*n, usize::MAX - place));
            Week {
                monday: Day(monday),
                works: works.len(),
                shows: world
                    .museum
                    .shows
                    .iter()
                    .filter(|show| week.contains(&day(&show.opens).0))
                    .count(),
                foremost: foremost.map(|(place, n)| (world.museum.artists[place].name.clone(), n)),
            }
        })
        .collect()
}

fn as_text<S: serde::Serializer>(day: &Day, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(day)
}

/// The object id of a work.
pub(crate) fn work_id(work: u32) -> Id {
    world::id(&format!("work/{work}"))
}

#[cfg(test)]
mod tests;
