//! The recipients of the demo: 25,000 who live in real cities and follow artists as real people do.

use std::collections::BTreeSet;

use tidings_core::model::{
    ChangedBy, EMAIL, EMAIL_NO, INBOX, Mode, PreferenceScope, RecipientChange, RecipientState,
};
use tidings_core::{Command, Id};

use super::museum::{City, Museum};
use super::random::{Random, Weighted};

/// Number of recipients.
pub const RECIPIENTS: usize = 25_000;
/// Number of followers of the most followed artist, as many as followed Andy Warhol at Artsy.
pub const FOLLOWERS_MAX: usize = 12_000;

/// Works and shows of followed artists.
pub const FOLLOWING: &str = "following";
/// Shows nearby.
pub const NEARBY: &str = "nearby";
/// Suggestions.
pub const SUGGESTED: &str = "suggested";

/// A choice that a recipient made before the first day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialPreference {
    /// The category that it is about.
    pub category: &'static str,
    /// The channel that it is about.
    pub channel: &'static str,
    /// The mode.
    pub mode: Mode,
}

/// One recipient as they are on the first day.
#[derive(Clone, Debug)]
pub struct Person {
    /// `r00001` and so on.
    pub id: Id,
    /// Address; a few have none.
    pub email: Option<String>,
    /// Place in [`Museum::cities`].
    pub city: usize,
    /// Their state.
    pub state: RecipientState,
    /// Their choices; most keep to the weekly mail.
    pub choices: Vec<InitialPreference>,
    /// Places in [`Museum::artists`] of those they follow, the most followed first.
    pub follows: Vec<usize>,
}

/// The museum and its recipients.
#[derive(Clone, Debug)]
pub struct World {
    /// The museum's collection.
    pub museum: Museum,
    /// The recipients, in the order of their ids.
    pub people: Vec<Person>,
    /// By artist, in the order of [`Museum::artists`]: places in [`World::people`], rising.
    pub followers: Vec<Vec<usize>>,
}

impl World {
    /// Builds the world; always the same one.
    #[must_use]
    pub fn build() -> Self {
        let museum = Museum::open();
        let mut random = Random::new(19_671_204);
        let cities = Weighted::new(museum.cities.iter().map(|city| city.population));
        let mut people: Vec<Person> =
            (0..RECIPIENTS).map(|n| person(n, &cities, &mut random)).collect();
        let followers = follow(&museum, &mut random);
        for (artist, fans) in followers.iter().enumerate() {
            for fan in fans {
                people[*fan].follows.push(artist);
            }
        }
        Self { museum, people, followers }
    }

    /// The recipient's city on the first day.
    #[must_use]
    pub fn city_of(&self, person: &Person) -> &City {
        &self.museum.cities[person.city]
    }

    /// The topic of an artist, by place in [`Museum::artists`].
    #[must_use]
    pub fn topic(&self, artist: usize) -> Id {
        id(&self.museum.artists[artist].topic())
    }

    /// The commands that make this recipient known: profile, choices, follows.
    pub fn introduce<'a>(&'a self, person: &'a Person) -> impl Iterator<Item = Command> + 'a {
        let city = self.city_of(person);
        let address = person.email.clone();
        let address = address.map(|address| (EMAIL_NO, vec![address.into()]));
        let profile = RecipientChange {
            addresses: address.into_iter().collect(),
            state: Some(person.state),
            ..lives_in(person.id.clone(), city)
        };
        let choices = person.choices.iter().map(|choice| Command::Preference {
            tenant: None,
            recipient: person.id.clone(),
            scope: PreferenceScope::Category(choice.category.to_owned()),
            channel: choice.channel.to_owned(),
            mode: choice.mode.clone(),
            by: ChangedBy::User,
        });
        let follows = person.follows.iter().map(|artist| Command::Subscribe {
            tenant: None,
            recipient: person.id.clone(),
            topic: self.topic(*artist),
        });
        std::iter::once(Command::Recipient(Box::new(profile))).chain(choices).chain(follows)
    }
}

/// A change of profile with a new home.
pub(crate) fn lives_in(id: Id, city: &City) -> RecipientChange {
    RecipientChange {
        tz: Some(Some(city.zone.clone())),
        lat: Some(Some(city.lat)),
        lon: Some(Some(city.lon)),
        ..RecipientChange::nothing(id)
    }
}

/// An id made here, of letters, digits and slashes.
pub(crate) fn id(text: &str) -> Id {
    Id::new(text).expect("ids of the demo are short and have no control characters")
}

fn person(n: usize, cities: &Weighted, random: &mut Random) -> Person {
    let name = format!("r{:05}", n + 1);
    Person {
        id: id(&name),
        email: (!random.per_mille(8)).then(|| format!("{name}@readers.example.org")),
        city: cities.draw(random),
        state: match random.below(1000) {
            0..18 => RecipientState::Unconfirmed,
            18..23 => RecipientState::Disabled,
            _ => RecipientState::Active,
        },
        choices: choices(random),
        follows: Vec::new(),
    }
}

/// Three in four keep to the weekly mail; the others want it faster, rarer or not at all.
fn choices(random: &mut Random) -> Vec<InitialPreference> {
    let email = |category, mode| InitialPreference { category, channel: EMAIL, mode };
    let mut choices = Vec::new();
    match random.below(1000) {
        0..110 => choices.push(email(FOLLOWING, Mode::Digest("daily".to_owned()))),
        110..160 => choices.push(email(FOLLOWING, Mode::Immediate)),
        160..195 => choices.push(email(FOLLOWING, Mode::Never)),
        _ => {}
    }
    if random.per_mille(60) {
        choices.push(email(NEARBY, Mode::Immediate));
    }
    match random.below(1000) {
        0..90 => choices.push(email(SUGGESTED, Mode::Never)),
        90..110 => {
            choices.push(email(SUGGESTED, Mode::Never));
            choices.push(InitialPreference {
                category: SUGGESTED,
                channel: INBOX,
                mode: Mode::Never,
            });
        }
        _ => {}
    }
    choices
}

/// Gives each artist as many followers as the curve says, drawn in proportion to how much each
/// recipient follows, so that both sides have their real tail.
fn follow(museum: &Museum, random: &mut Random) -> Vec<Vec<usize>> {
    let shares = (0..RECIPIENTS).map(|_| random.below(1_000_000));
    let appetite = Weighted::new(
        shares
            .map(|share| f64::from(u32::try_from(share).unwrap_or(0)) / 1_000_000.0)
            .map(|share| u64::from(museum.curve.following(share)))
            .collect::<Vec<_>>()
            .into_iter(),
    );
    let most = museum.curve.followers(1);
    (1_u32..)
        .take(museum.artists.len())
        .map(|rank| museum.curve.followers(rank) / most * scale())
        .map(|wanted| {
            // Truncation of a small positive number: no artist has more followers than recipients.
            let wanted = (wanted as usize).clamp(1, RECIPIENTS / 2);
            let mut fans = BTreeSet::new();
            while fans.len() < wanted {
                fans.insert(appetite.draw(random));
            }
            fans.into_iter().collect()
        })
        .collect()
}

fn scale() -> f64 {
    f64::from(u32::try_from(FOLLOWERS_MAX).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_the_same_each_time_and_has_its_tails() {
        let world = World::build();
        assert_eq!(world.people.len(), RECIPIENTS);
        assert_eq!(world.followers[0].len(), FOLLOWERS_MAX);
        assert_eq!(world.topic(0).as_str(), "artist/andy-warhol");
        let counts: Vec<usize> = world.followers.iter().map(Vec::len).collect();
        assert!(counts.is_sorted_by(|a, b| a >= b), "followers fall with the rank");
        assert!((5_500..6_500).contains(&counts[1]), "{}", counts[1]);

        let mut follows: Vec<usize> = world.people.iter().map(|p| p.follows.len()).collect();
        follows.sort_unstable();
        let (median, most) = (follows[RECIPIENTS / 2], follows[RECIPIENTS - 1]);
        assert!((2..20).contains(&median), "{median}");
        assert!(most > 20 * median, "{most} of {median}");

        let again = World::build();
        assert_eq!(world.followers, again.followers);
        assert!(world.people.iter().zip(&again.people).all(|(a, b)| a.city == b.city));
    }

    #[test]
    fn cities_are_drawn_by_population() {
        let world = World::build();
        let city = |name| {
            let at = world.museum.cities.iter().position(|city| city.name == name);
            world.people.iter().filter(|person| Some(person.city) == at).count()
        };
        let (shanghai, lisbon) = (city("Shanghai"), city("Lisbon"));
        assert!(shanghai > 10 * lisbon.max(1), "{shanghai} and {lisbon}");
    }

    #[test]
    fn somebody_is_introduced_before_they_follow() {
        let world = World::build();
        let person = world.people.iter().find(|p| p.follows.len() > 3).unwrap();
        let commands: Vec<Command> = world.introduce(person).collect();
        assert!(matches!(&commands[0], Command::Recipient(change) if change.id == person.id));
        assert_eq!(commands.len(), 1 + person.choices.len() + person.follows.len());
    }
}
