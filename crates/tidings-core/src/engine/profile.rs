//! Commands about recipients: profiles, subscriptions, marks, flushes.

use super::draft::Draft;
use super::reply::{Answer, Dropped, Refused, Reply};
use super::{Engine, follow, take_back};
use crate::command::{Command, MarkKind, Marked};
use crate::id::Id;
use crate::journal::record::{Covered, Record, channel_no};
use crate::recipient::{Addresses, Recipient, RecipientChange, State};
use crate::table::Partition;
use crate::time::{Day, Instant};

impl Engine {
    /// Runs one command.
    pub(crate) fn command(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        command: &Command,
        forgotten: &mut Vec<Day>,
    ) -> Answer {
        match command {
            Command::Recipient(change) => self.change_recipient(draft, now, change),
            Command::Erase { recipient } => self.erase(draft, now, recipient),
            Command::Subscribe { .. } | Command::Unsubscribe { .. } => {
                let replies = self.follow(draft, now, std::slice::from_ref(command))?;
                Ok(replies.into_iter().next().unwrap_or(Ok(Reply::Done)))
            }
            Command::Publish(event) => self.publish(draft, now, event),
            Command::Object(object) => {
                self.keep_day(draft, now.day());
                self.intake.objects.upsert(draft, object, now.day())?;
                Ok(Ok(Reply::Done))
            }
            Command::Retract { object } => {
                self.keep_day(draft, now.day());
                self.intake.objects.retract(draft, object, now.day())?;
                Ok(Ok(Reply::Done))
            }
            Command::Mark {
                recipient,
                what,
                kind,
            } => self.mark(draft, now, recipient, what, *kind),
            Command::Cancel(cancelled) => self.cancel(draft, now, cancelled),
            Command::Preference {
                recipient,
                scope,
                channel,
                mode,
            } => {
                let chosen = take_back::Chosen {
                    recipient,
                    scope,
                    channel,
                    mode,
                };
                self.prefer(draft, now, chosen)
            }
            Command::Flush {
                recipient,
                channel,
                lane,
            } => Ok(self.flush(draft, now, recipient, channel.as_deref(), lane.as_deref())),
            Command::Preferences {
                recipient,
                chosen,
                whole,
            } => self.prefer_all(draft, now, recipient, (chosen, *whole)),
            Command::Pause(what) => self.pause(draft, now, what),
            Command::Resume(what) => self.resume(draft, now, what),
            Command::Forget { before } => {
                let (days, expired) = self.forget_until(draft, *before)?;
                let dropped = Dropped {
                    days: days.len() as u64,
                    expired,
                };
                forgotten.extend(days);
                Ok(Ok(Reply::Dropped(dropped)))
            }
        }
    }

    /// Checks whether a command would be accepted now; a refused one changes nothing.
    ///
    /// # Errors
    /// Why it would be refused.
    pub fn check(&self, command: &Command) -> Result<(), Refused> {
        match command {
            Command::Subscribe { recipient, topic } => {
                let (bucket, number) = self.find(recipient)?;
                let followers = &self.buckets[bucket].followers;
                match followers.has(topic, number) {
                    true => Ok(()),
                    false => self.may_follow(topic, u64::from(followers.topics_of(number)) + 1),
                }
            }
            Command::Erase { recipient }
            | Command::Unsubscribe { recipient, .. }
            | Command::Mark { recipient, .. }
            | Command::Preference { recipient, .. }
            | Command::Preferences { recipient, .. }
            | Command::Flush { recipient, .. } => self.find(recipient).map(|_| ()),
            Command::Publish(event) => {
                let kind = self.law.names.type_no(event.kind.as_str());
                let known = kind
                    .zip(self.version())
                    .is_some_and(|(no, version)| version.kind(no).is_some());
                known
                    .then_some(())
                    .ok_or_else(|| self.unknown_type(&event.kind))
            }
            Command::Pause(what) | Command::Resume(what) => self.check_pausable(what),
            Command::Recipient(_)
            | Command::Object(_)
            | Command::Retract { .. }
            | Command::Cancel(_)
            | Command::Forget { .. } => Ok(()),
        }
    }

    /// The bucket and number of a recipient.
    pub(crate) fn find(&self, recipient: &Id) -> Result<(usize, u32), Refused> {
        let bucket = self.bucket_at(recipient.as_str());
        match self.buckets[bucket].roster.number(recipient.as_str()) {
            Some(number) => Ok((bucket, number)),
            None => Err(Refused::UnknownRecipient(recipient.clone())),
        }
    }

    fn change_recipient(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        change: &RecipientChange,
    ) -> Answer {
        let bucket = self.bucket_at(change.id.as_str());
        let roster = &self.buckets[bucket].roster;
        let (number, known) = match roster.number(change.id.as_str()) {
            Some(number) => (number, roster.profile(number).cloned()),
            None => (roster.next_number(), None),
        };
        let new = changed(known.clone(), change);
        if known.as_ref() != Some(&new) {
            let record = Record::Profile {
                at: now,
                number,
                profile: Box::new(new),
            };
            self.write(draft, bucket, now, record);
        }
        Ok(Ok(Reply::Done))
    }

    fn erase(&mut self, draft: &mut Draft<'_>, now: Instant, recipient: &Id) -> Answer {
        let (bucket, number) = match self.find(recipient) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        for key in follow::rows_of(draft, self.buckets[bucket].no, number)?.into_keys() {
            draft.delete(Partition::Base, key);
        }
        self.write(draft, bucket, now, Record::Erased { at: now, number });
        self.end_messages_to(draft, now, bucket, number)?;
        Ok(Ok(Reply::Done))
    }

    fn mark(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        recipient: &Id,
        what: &Marked,
        kind: MarkKind,
    ) -> Answer {
        let (bucket, number) = match self.find(recipient) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let covered = match what {
            Marked::UpTo(instant) => vec![Covered::UpTo(*instant)],
            // A mark covers what has entered by now: about what nothing names there is nothing.
            Marked::Object(object) => match self.intake.objects.knows(draft, object)? {
                true => vec![Covered::Object(object.clone())],
                false => Vec::new(),
            },
            Marked::Event(event) => {
                let places = self.places_of(draft, event)?;
                places.into_iter().map(Covered::Event).collect()
            }
        };
        for what in covered {
            let record = Record::Mark {
                at: now,
                before: self.intake.next_place,
                number,
                what,
                kind,
            };
            self.write(draft, bucket, now, record);
        }
        Ok(Ok(Reply::Done))
    }

    fn flush(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        recipient: &Id,
        channel: Option<&str>,
        lane: Option<&str>,
    ) -> Result<Reply, Refused> {
        let (bucket, number) = self.find(recipient)?;
        let channel = match channel {
            Some(name) => {
                Some(channel_no(name).ok_or_else(|| Refused::UnknownChannel(name.to_owned()))?)
            }
            None => None,
        };
        let open = self.buckets[bucket].lanes.iter().filter(|(no, state)| {
            let name = self.law.names.lane(**no);
            state.open().contains(number)
                && !state.keeps_paused()
                && channel.is_none_or(|channel| channel == name.channel)
                && lane.is_none_or(|lane| lane == name.name)
        });
        let lanes: Vec<_> = open.map(|(no, _)| *no).collect();
        let due = lanes.len();
        // Where nothing waits the marker names the place at which the recipient was found flushed.
        let seq = if lanes.is_empty() {
            self.buckets[bucket].next_seq
        } else {
            let at = now;
            self.write(draft, bucket, now, Record::Flush { at, number, lanes })
        };
        let marker = format!("{}-{seq}", self.buckets[bucket].no);
        Ok(Reply::Flushed { marker, lanes: due })
    }
}

/// A profile with the given fields changed.
fn changed(known: Option<Recipient>, change: &RecipientChange) -> Recipient {
    let mut new = known.unwrap_or_else(|| Recipient {
        id: change.id.clone(),
        name: None,
        addresses: Addresses::default(),
        tz: None,
        locale: None,
        place: None,
        state: State::Active,
    });
    if let Some(name) = &change.name {
        new.name.clone_from(name);
    }
    for (channel, address) in &change.addresses {
        new.addresses.set(*channel, address.as_deref());
    }
    if let Some(tz) = &change.tz {
        new.tz.clone_from(tz);
    }
    if let Some(locale) = &change.locale {
        new.locale.clone_from(locale);
    }
    let (lat, lon) = new.place.unzip();
    let place = change.lat.unwrap_or(lat).zip(change.lon.unwrap_or(lon));
    new.place = place;
    new.state = change.state.unwrap_or(new.state);
    new
}
