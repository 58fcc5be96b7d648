//! Actions of recipients and curators: preferences, reads, moves, retractions.

use tidings_core::model::{
    Cancelled, ChangedBy, EMAIL, HOUR_MS, MINUTE_MS, MarkKind, Marked, Mode, PreferenceScope,
    RecipientChange, RecipientState, Timed, View,
};
use tidings_core::{Command, Day, Id, Instant, Object};

use super::{FIRST_DAY, LAST_DAY, announce, day, work_id};
use crate::random::Random;
use crate::world::{FOLLOWING, NEARBY, Person, SUGGESTED, World, lives_in};

/// Numbers of those who do it on one day.
const MINDS_CHANGED: usize = 12;
const FOLLOWED: usize = 20;
const UNFOLLOWED: usize = 5;
const LOOKED: usize = 400;
const READ: usize = 60;
const CONFIRMED: usize = 2;

/// Works that were announced by mistake: (announced, taken back before the Monday mail, works).
const RETRACTED: [(&str, &str, &[usize]); 3] = [
    ("1967-12-13", "1967-12-15", &[0, 90, 300]),
    ("1968-02-05", "1968-02-08", &[0, 11, 40, 111]),
    ("1968-03-06", "1968-03-08", &[17, 1000, 1001, 2002, 3003, 4004]),
];
/// Whose whole lot of a day is cancelled, and when: a crate that never arrived.
const CANCELLED: (&str, &str, &str) = ("1968-02-05", "gino-marotta", "1968-02-07");
/// On this day all days before that one are forgotten.
const FORGOTTEN: (&str, &str) = ("1968-02-26", "1967-12-12");

/// Everything that is not an announcement; `announced` tells what there is to look at.
pub(super) fn all(world: &World, announced: &[Timed]) -> Vec<Timed> {
    let mut random = Random::new(23);
    let mut done = corrections(world);
    for date in day(FIRST_DAY).0..=day(LAST_DAY).0 {
        let date = Day(date);
        let noon = date.start().plus_ms(12 * HOUR_MS);
        let mut at_noon = minds(world, &mut random);
        at_noon.extend(follows(world, &mut random));
        at_noon.extend(moves(world, &mut random));
        done.extend(at_noon.into_iter().map(|command| Timed { at: noon, command }));
        done.extend(looks(world, announced, date, &mut random));
    }
    done
}

fn someone<'a>(world: &'a World, random: &mut Random) -> &'a Person {
    &world.people[random.below(world.people.len())]
}

fn minds(world: &World, random: &mut Random) -> Vec<Command> {
    let modes = [Mode::Default, Mode::Digest("daily".to_owned()), Mode::Immediate, Mode::Never];
    let mut commands: Vec<Command> = (0..MINDS_CHANGED)
        .map(|_| Command::Preference {
            tenant: None,
            recipient: someone(world, random).id.clone(),
            scope: PreferenceScope::Category(
                [FOLLOWING, FOLLOWING, NEARBY, SUGGESTED][random.below(4)].to_owned(),
            ),
            channel: EMAIL.to_owned(),
            mode: modes[random.below(modes.len())].clone(),
            by: ChangedBy::User,
        })
        .collect();
    // One a day does not want to wait for Monday.
    commands.push(Command::Flush {
        view: View::All,
        recipient: someone(world, random).id.clone(),
        channel: Some(EMAIL.to_owned()),
        lane: None,
        key: None,
    });
    commands
}

fn follows(world: &World, random: &mut Random) -> Vec<Command> {
    let mut commands = Vec::new();
    for _ in 0..FOLLOWED {
        // Nearer to the front is likelier, as it is with what many follow already.
        let reach = 1 + random.below(world.museum.artists.len());
        let topic = world.topic(random.below(reach));
        commands.push(Command::Subscribe {
            tenant: None,
            recipient: someone(world, random).id.clone(),
            topic,
        });
    }
    for _ in 0..UNFOLLOWED {
        let person = someone(world, random);
        if let Some(artist) = random.pick(&person.follows) {
            let (recipient, topic) = (person.id.clone(), world.topic(*artist));
            commands.push(Command::Unsubscribe { tenant: None, recipient, topic });
        }
    }
    commands
}

/// One moves to another city, a few confirm their address, now and then one leaves.
fn moves(world: &World, random: &mut Random) -> Vec<Command> {
    let person = someone(world, random);
    // To the home of another person: again in proportion to population.
    let city = world.city_of(someone(world, random));
    let mut commands = vec![Command::Recipient(Box::new(lives_in(person.id.clone(), city)))];
    let unconfirmed: Vec<&Person> =
        world.people.iter().filter(|person| person.state == RecipientState::Unconfirmed).collect();
    for _ in 0..CONFIRMED {
        if let Some(person) = random.pick(&unconfirmed) {
            commands.push(becomes(person, RecipientState::Active));
        }
    }
    if random.per_mille(150) {
        commands.push(becomes(someone(world, random), RecipientState::Disabled));
    }
    commands
}

fn becomes(person: &Person, state: RecipientState) -> Command {
    Command::Recipient(Box::new(RecipientChange {
        state: Some(state),
        ..RecipientChange::nothing(person.id.clone())
    }))
}

/// In the evening (UTC) some open their inbox; some followers open a work of the day.
fn looks(world: &World, announced: &[Timed], date: Day, random: &mut Random) -> Vec<Timed> {
    let at = date.end().plus_ms(-HOUR_MS);
    let mut marks: Vec<Timed> = (0..LOOKED)
        .map(|_| mark(at, &someone(world, random).id, Marked::UpTo(at), MarkKind::Seen))
        .collect();
    let today: Vec<&tidings_core::Event> = announced
        .iter()
        .filter(|timed| timed.at.day() == date)
        .filter_map(|timed| match &timed.command {
            Command::Publish(event) => Some(event.as_ref()),
            _ => None,
        })
        .collect();
    for _ in 0..READ {
        let Some(event) = random.pick(&today) else {
            break;
        };
        let reader =
            match event.target.as_ref().and_then(|artist| place_of_topic(world, &artist.id)) {
                Some(artist) => random.pick(&world.followers[artist]).copied(),
                None => Some(random.below(world.people.len())),
            };
        if let Some(reader) = reader {
            let what = Marked::Object(event.object.id.clone());
            marks.push(mark(at, &world.people[reader].id, what, MarkKind::Read));
        }
    }
    marks
}

fn place_of_topic(world: &World, topic: &Id) -> Option<usize> {
    let slug = topic.as_str().strip_prefix("artist/")?;
    world.museum.artists.iter().position(|artist| artist.slug == slug)
}

fn mark(at: Instant, recipient: &Id, what: Marked, kind: MarkKind) -> Timed {
    Timed {
        at,
        command: Command::Mark { view: View::All, recipient: recipient.clone(), what, kind },
    }
}

/// Corrections: what curators take back, and the days that the keeper of the store deletes.
fn corrections(world: &World) -> Vec<Timed> {
    let mut done = Vec::new();
    for (announced, taken_back, works) in RETRACTED {
        let of_day: Vec<_> =
            world.museum.works.iter().filter(|work| work.acquired == announced).collect();
        let at = day(taken_back).start().plus_ms(16 * HOUR_MS);
        let taken: Vec<Id> =
            works.iter().filter_map(|n| of_day.get(*n)).map(|work| work_id(work.id)).collect();
        done.extend(
            taken
                .iter()
                .map(|object| Timed { at, command: Command::Retract { object: object.clone() } }),
        );
        // The last one was right after all.
        if let Some(object) = taken.last() {
            let again = Object {
                id: object.clone(),
                title: None,
                url: None,
                image: None,
                image_size: None,
                data: None,
                notifiable: Some(true),
            };
            done.push(Timed { at: at.plus_ms(20 * MINUTE_MS), command: Command::Object(again) });
        }
    }
    let (acquired, slug, cancelled) = CANCELLED;
    if let Some(artist) = world.museum.artists.iter().position(|artist| artist.slug == slug) {
        let key = announce::cancellation_key(world, acquired, artist);
        let at = day(cancelled).start().plus_ms(15 * HOUR_MS);
        done.push(Timed {
            at,
            command: Command::Cancel { what: Cancelled::Key(key), tenant: None },
        });
    }
    let (on, before) = FORGOTTEN;
    let at = day(on).start().plus_ms(4 * HOUR_MS);
    done.push(Timed { at, command: Command::Forget { before: day(before) } });
    done
}
