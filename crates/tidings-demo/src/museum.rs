//! The demo's data: works, artists and shows of a museum, cities, a follow curve.
//!
//! Sources and licences stand in `examples/art/CREDITS.md`; `examples/art/subset.py` makes the files.

use std::collections::HashMap;
use std::io::Read;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// An artist, in the order of how many follow them: the first is followed by most.
#[derive(Clone, Debug, Deserialize)]
pub struct Artist {
    /// The museum's number.
    pub id: u32,
    /// The name as a topic's last part.
    pub slug: String,
    /// The name as it is shown.
    pub name: String,
    /// Nationality and years, as the museum gives them.
    #[serde(default)]
    pub life: String,
}

/// A work that the museum acquired.
#[derive(Clone, Debug, Deserialize)]
pub struct Work {
    /// The museum's number.
    pub id: u32,
    /// Its title; empty where the museum gives none.
    #[serde(default)]
    pub title: String,
    /// Its artists' numbers, at least one.
    pub artists: Vec<u32>,
    /// The time when it was made, as the museum words it.
    pub date: Option<String>,
    /// The materials.
    pub medium: Option<String>,
    /// The people and institutions that the museum thanks for it.
    pub credit: Option<String>,
    /// The day on which the museum acquired it, `YYYY-MM-DD`.
    pub acquired: String,
    /// Its page.
    pub url: Option<String>,
}

/// An exhibition: where and when it was shown, and with whose works.
#[derive(Clone, Debug, Deserialize)]
pub struct Exhibition {
    /// The museum's number.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// The day on which it opened, `YYYY-MM-DD`.
    pub opens: String,
    /// Its last day, `YYYY-MM-DD`.
    pub closes: Option<String>,
    /// The place where it was shown.
    pub venue: String,
    /// Street and number.
    pub address: Option<String>,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Its page.
    pub url: Option<String>,
    /// Its artists' numbers.
    #[serde(default)]
    pub artists: Vec<u32>,
}

/// A city in which recipients may live.
#[derive(Clone, Debug, Deserialize)]
pub struct City {
    /// Its name.
    pub name: String,
    /// ISO 3166 code of its country.
    pub country: String,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Number of inhabitants.
    pub population: u64,
    /// Its IANA time zone.
    pub zone: String,
}

/// The distribution of followers in a real network; the world scales it.
#[derive(Clone, Debug, Deserialize)]
pub struct FollowCurve {
    /// (rank, followers of the one at that rank), by rank from 1.
    followers: Vec<(u32, u32)>,
    /// (share of the followers, how many one at that share follows), by share from 0 to 1.
    following: Vec<(f64, u32)>,
}

/// The museum's data, which is compiled in.
#[derive(Clone, Debug)]
pub struct Museum {
    /// The most followed first.
    pub artists: Vec<Artist>,
    /// By day of acquisition.
    pub works: Vec<Work>,
    /// By day of opening.
    pub shows: Vec<Exhibition>,
    /// The most populous first.
    pub cities: Vec<City>,
    /// The shape of following.
    pub curve: FollowCurve,
    place_of_artist: HashMap<u32, usize>,
}

impl Artist {
    /// The topic of this artist.
    #[must_use]
    pub fn topic(&self) -> String {
        format!("artist/{}", self.slug)
    }
}

impl Museum {
    /// Reads the data that is compiled in.
    #[must_use]
    pub fn open() -> Self {
        let artists = artists();
        let curve = include_str!("../../../examples/art/follow_curve.json");
        Self {
            place_of_artist: artists.iter().enumerate().map(|(n, artist)| (artist.id, n)).collect(),
            artists,
            works: rows(include_bytes!("../../../examples/art/works.ndjson.gz")),
            shows: rows(include_bytes!("../../../examples/art/shows.ndjson.gz")),
            cities: rows(include_bytes!("../../../examples/art/cities.ndjson.gz")),
            curve: serde_json::from_str(curve).expect("the compiled-in curve is well-formed"),
        }
    }

    /// The place in [`Museum::artists`] of the artist with this number.
    #[must_use]
    pub fn place_of(&self, artist: u32) -> Option<usize> {
        self.place_of_artist.get(&artist).copied()
    }
}

impl FollowCurve {
    /// Followers of the one at this rank (from 1), between known ranks along a straight line on a
    /// doubly logarithmic scale, which is what such curves nearly are.
    #[must_use]
    pub fn followers(&self, rank: u32) -> f64 {
        let after = self.followers.partition_point(|(known, _)| *known < rank);
        let Some(&(rank_b, count_b)) = self.followers.get(after) else {
            return 0.0;
        };
        let (rank, rank_b, count_b) = (f64::from(rank), f64::from(rank_b), f64::from(count_b));
        match after.checked_sub(1).and_then(|before| self.followers.get(before)) {
            None => count_b,
            Some(&(rank_a, count_a)) => {
                let (rank_a, count_a) = (f64::from(rank_a), f64::from(count_a));
                let way = (rank / rank_a).ln() / (rank_b / rank_a).ln();
                count_a * (count_b / count_a).powf(way)
            }
        }
    }

    /// The number of artists that the follower at this share (0 to 1) of all followers follows.
    #[must_use]
    pub fn following(&self, share: f64) -> u32 {
        let after = self.following.partition_point(|(known, _)| *known <= share);
        self.following.get(after.saturating_sub(1)).map_or(1, |(_, count)| *count)
    }
}

fn artists() -> Vec<Artist> {
    rows(include_bytes!("../../../examples/art/artists.ndjson.gz"))
}

fn rows<T: DeserializeOwned>(gzipped: &[u8]) -> Vec<T> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(gzipped)
        .read_to_string(&mut text)
        .expect("the compiled-in data is well-formed gzip");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("the compiled-in data is well-formed"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_carried_can_be_read_and_joined() {
        let museum = Museum::open();
        assert_eq!(museum.works.len(), 6192);
        assert_eq!(museum.shows.len(), 9);
        assert_eq!(museum.artists[0].name, "Andy Warhol");
        assert!(museum.works.iter().all(|work| !work.artists.is_empty()));
        let named = museum.works.iter().flat_map(|work| &work.artists);
        let shown = museum.shows.iter().flat_map(|show| &show.artists);
        assert!(named.chain(shown).all(|artist| museum.place_of(*artist).is_some()));
    }

    #[test]
    fn the_curve_only_falls_and_meets_its_known_points() {
        let curve = Museum::open().curve;
        assert!((curve.followers(1) - 66_580.0).abs() < 1e-6);
        assert!((curve.followers(2) - 34_072.0).abs() < 1e-6);
        for rank in 1..5000 {
            assert!(curve.followers(rank) >= curve.followers(rank + 1), "{rank}");
        }
        assert_eq!(curve.following(1.0), 488);
        assert_eq!(curve.following(0.0), 1);
    }
}
