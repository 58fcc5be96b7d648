//! The audience of an event and its reasons, one person at a time.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::model::GeoCircle;
use tidings_core::{Event, Id};

use super::person::Person;

/// Radius of the earth in kilometres (contract, section 2).
const EARTH_KM: f64 = 6371.0088;

/// The people who follow a topic of a tenant, or of none.
pub(super) type Followers = BTreeMap<(Option<usize>, Id), BTreeSet<usize>>;

/// The audience of an event with each one's reasons, and what deserves a warning.
pub(super) struct ModelAudience {
    /// Person and reasons, sorted by bytes.
    pub(super) reasons: BTreeMap<usize, Vec<String>>,
    /// Number of distinct names without a recipient.
    pub(super) unknown: u64,
}

/// The union of all that `to` says, less its `except`, and less the actor unless the type says otherwise. Of an event of a
/// tenant, topics are the tenant's own, and `everyone` and `near` are its members.
pub(super) fn audience(
    event: &Event,
    include_actor: bool,
    people: &[Person],
    by_id: &BTreeMap<Id, usize>,
    followers: &Followers,
    of: Option<(usize, &BTreeSet<usize>)>,
) -> ModelAudience {
    let all: BTreeSet<usize> = match of {
        Some((_, members)) => members.clone(),
        None => by_id.values().copied().collect(),
    };
    let tenant = of.map(|(tenant, _)| tenant);
    let mut reasons: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for id in &event.to.recipients {
        match by_id.get(id) {
            Some(&person) => {
                reasons.entry(person).or_default().insert("named".to_owned());
            }
            None => {
                unknown.insert(id.clone());
            }
        }
    }
    for topic in &event.to.topics {
        for above in followed_paths(topic.as_str()) {
            let topic = Id::new(above).expect("the beginning of an id is one");
            for &person in followers.get(&(tenant, topic)).into_iter().flatten() {
                reasons.entry(person).or_default().insert(format!("topic:{above}"));
            }
        }
    }
    if event.to.everyone {
        for &person in &all {
            reasons.entry(person).or_default().insert("everyone".to_owned());
        }
    }
    for near in &event.to.near {
        for &person in &all {
            if people[person].place().is_some_and(|place| kilometres(near, place) <= near.km) {
                reasons.entry(person).or_default().insert("near".to_owned());
            }
        }
    }
    reasons.retain(|&person, _| !event.to.except.contains(&people[person].id));
    if !include_actor {
        reasons.retain(|&person, _| {
            event.actor.as_ref().is_none_or(|actor| actor.id != people[person].id)
        });
    }
    let unknown = unknown.len() as u64;
    let reasons =
        reasons.into_iter().map(|(person, why)| (person, why.into_iter().collect())).collect();
    ModelAudience { reasons, unknown }
}

/// The topic and all that it lies below, up to each `/`.
fn followed_paths(topic: &str) -> impl Iterator<Item = &str> {
    topic.match_indices('/').map(|(slash, _)| &topic[..slash]).chain([topic])
}

/// Great-circle distance (haversine).
fn kilometres(near: &GeoCircle, (lat, lon): (f64, f64)) -> f64 {
    let (north, south) = (near.lat.to_radians(), lat.to_radians());
    let half_lat = ((north - south) / 2.0).sin();
    let half_lon = ((near.lon - lon).to_radians() / 2.0).sin();
    let h = half_lat * half_lat + north.cos() * south.cos() * half_lon * half_lon;
    2.0 * EARTH_KM * h.sqrt().min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_heard_above_it() {
        assert_eq!(followed_paths("a/b/c").collect::<Vec<_>>(), ["a", "a/b", "a/b/c"]);
        assert_eq!(followed_paths("a").collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn distances_are_those_of_a_globe() {
        let paris = GeoCircle { lat: 48.8566, lon: 2.3522, km: 0.0 };
        assert!((kilometres(&paris, (51.5074, -0.1278)) - 343.56).abs() < 0.1);
        let half_round = kilometres(&GeoCircle { lat: 0.0, lon: 0.0, km: 0.0 }, (0.0, 180.0));
        assert!((half_round - std::f64::consts::PI * EARTH_KM).abs() < 1e-6);
    }
}
