//! A smaller scenario by the same rules: fewer people, fewer days, or other titles.

use std::collections::HashSet;

use tidings_core::model::Timed;
use tidings_core::{Command, Day, Id};

use super::Scenario;

impl Scenario {
    /// The first `people` recipients until the end of a day.
    #[must_use]
    pub fn excerpt(mut self, people: usize, last: Day) -> Self {
        let world = &mut self.world;
        world.people.truncate(people);
        for followers in &mut world.followers {
            followers.retain(|follower| *follower < people);
        }
        let known: HashSet<&Id> = world.people.iter().map(|person| &person.id).collect();
        self.ends = last.end();
        self.weeks.retain(|week| week.monday <= last);
        self.days.retain_mut(|timed| timed.at < last.end() && concerns(timed, &known));
        self
    }

    /// The same events about objects of one title and link, such as those that a page has to escape.
    #[must_use]
    pub fn entitled(mut self, title: &str, url: &str) -> Self {
        for timed in &mut self.days {
            if let Command::Publish(event) = &mut timed.command {
                event.object.title = Some(title.into());
                event.object.url = Some(url.to_owned());
            }
        }
        self
    }
}

/// Returns true if a command has to do with those who are known; drops from it the others whom it names.
fn concerns(timed: &mut Timed, known: &HashSet<&Id>) -> bool {
    match &mut timed.command {
        Command::Recipient(change) => known.contains(&change.id),
        Command::Erase { recipient }
        | Command::Subscribe { recipient, .. }
        | Command::Unsubscribe { recipient, .. }
        | Command::Mark { recipient, .. }
        | Command::ChangeItems { recipient, .. }
        | Command::Preference { recipient, .. }
        | Command::Preferences { recipient, .. }
        | Command::Flush { recipient, .. }
        | Command::Join { recipient, .. }
        | Command::Leave { recipient, .. }
        | Command::Device { recipient, .. } => known.contains(recipient),
        Command::Publish(event) => {
            let named = event.to.recipients.len();
            event.to.recipients.retain(|id| known.contains(id));
            named == 0 || !event.to.recipients.is_empty()
        }
        Command::Object(_)
        | Command::Resolved(_)
        | Command::Retract { .. }
        | Command::Cancel { .. }
        | Command::Withdraw { .. }
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::Forget { .. }
        | Command::Message { .. }
        | Command::BeginJob(_)
        | Command::StopJob { .. }
        | Command::Report { .. }
        | Command::Suppress { .. }
        | Command::Unsuppress { .. }
        | Command::ReportAddress { .. }
        | Command::Hook { .. }
        | Command::Tenant { .. }
        | Command::DeleteTenant { .. } => true,
    }
}
