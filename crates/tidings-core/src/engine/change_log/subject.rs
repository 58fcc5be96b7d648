//! Subjects of changes, and keyed hashes in the place of what must not be told.

use crate::engine::address_index::hash::HashKey;
use crate::model::changes::{ChangeSubject, SubjectKind};
use crate::model::command::{Cancelled, Command, PauseSubject};
use crate::model::id::Id;
use crate::model::messages::MessageAct;
use crate::model::occurrence::HookChange;
use crate::model::suppression::ChannelAddress;

/// The subject of an address, as a keyed hash.
pub(crate) fn of_address(key: HashKey, address: &ChannelAddress) -> ChangeSubject {
    let label = format!("address of {}", address.channel().name());
    ChangeSubject::new(SubjectKind::Address, key.labelled(&label, address.address()))
}

/// The subject of an erased recipient, as a keyed hash.
pub(crate) fn of_erased(key: HashKey, recipient: &Id) -> ChangeSubject {
    ChangeSubject::new(SubjectKind::Recipient, key.labelled("recipient", recipient.as_str()))
}

/// The name of the call that does what a command does; `None` = what it changes is not logged.
pub(crate) fn action_of(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::Recipient(_) => "patch_recipient",
        Command::Erase { .. } => "erase_recipient",
        Command::Device { joins: true, .. } => "join_push",
        Command::Device { joins: false, .. } => "leave_push",
        Command::Cancel { what: Cancelled::Event(_), .. } => "cancel_event",
        Command::Cancel { what: Cancelled::Key(_), .. } => "cancel_all",
        Command::Withdraw { what: Cancelled::Event(_), .. } => "withdraw_event",
        Command::Withdraw { what: Cancelled::Key(_), .. } => "withdraw",
        Command::Preference { .. } | Command::Preferences { whole: false, .. } => {
            "patch_preferences"
        }
        Command::Preferences { whole: true, .. } => "put_preferences",
        Command::Flush { .. } => "flush",
        Command::Pause(PauseSubject::Type(_)) => "pause_type",
        Command::Pause(PauseSubject::Channel(_)) => "pause_channel",
        Command::Resume(PauseSubject::Type(_)) => "resume_type",
        Command::Resume(PauseSubject::Channel(_)) => "resume_channel",
        Command::Forget { .. } => "forget",
        Command::BeginJob(_) => "job.begun",
        Command::StopJob { .. } => "job.ended",
        Command::Message { act: MessageAct::Retry, .. } => "retry_message",
        Command::Message { act: MessageAct::Resend, .. } => "resend_message",
        Command::Message { act: MessageAct::Cancel, .. } => "cancel_message",
        Command::Suppress { .. } => "suppress",
        Command::Unsuppress { .. } => "unsuppress",
        Command::ReportAddress { .. } => "suppressed",
        Command::Hook { change: HookChange::Resume, .. } => "resume_hook",
        Command::Hook { change: HookChange::Replay(_), .. } => "replay_hook",
        Command::Tenant { .. } => "patch_tenant",
        Command::DeleteTenant { .. } => "delete_tenant",
        Command::Join { .. } => "put_member",
        Command::Leave { .. } => "remove_member",
        Command::Subscribe { .. }
        | Command::Unsubscribe { .. }
        | Command::Publish(_)
        | Command::Object(_)
        | Command::Resolved(_)
        | Command::Retract { .. }
        | Command::Mark { .. }
        | Command::ChangeItems { .. }
        | Command::Report { .. } => return None,
    })
}

/// The name of the call that does many of such commands.
pub(crate) fn counted_action_of(command: &Command) -> Option<&'static str> {
    match command {
        Command::Recipient(_) => Some("change_recipients"),
        Command::Join { .. } | Command::Leave { .. } => Some("change_members"),
        Command::Tenant { .. } => Some("change_tenants"),
        command => action_of(command),
    }
}

/// The subject of a command, where it needs no key; `None` = that of an address, of an erased recipient or of
/// a new job, or none.
pub(crate) fn subject_of(command: &Command) -> Option<ChangeSubject> {
    let of = |kind, id: &Id| Some(ChangeSubject::new(kind, id.as_str()));
    match command {
        Command::Recipient(change) => of(SubjectKind::Recipient, &change.id),
        Command::Device { recipient, .. }
        | Command::Preference { recipient, .. }
        | Command::Preferences { recipient, .. }
        | Command::Flush { recipient, .. }
        | Command::Join { recipient, .. }
        | Command::Leave { recipient, .. } => of(SubjectKind::Recipient, recipient),
        Command::Cancel { what, .. } | Command::Withdraw { what, .. } => {
            Some(subject_of_cancelled(what))
        }
        Command::Pause(what) | Command::Resume(what) => Some(match what {
            PauseSubject::Type(name) => ChangeSubject::new(SubjectKind::Type, name.as_str()),
            PauseSubject::Channel(name) => ChangeSubject::new(SubjectKind::Channel, name),
        }),
        Command::Forget { before } => {
            Some(ChangeSubject::new(SubjectKind::Day, before.to_string()))
        }
        Command::Message { message, .. } => {
            Some(ChangeSubject::new(SubjectKind::Message, message.to_string()))
        }
        Command::StopJob { job } => Some(ChangeSubject::new(SubjectKind::Job, job.to_string())),
        Command::Hook { name, .. } => Some(ChangeSubject::new(SubjectKind::Hook, name)),
        Command::Tenant { tenant, .. } | Command::DeleteTenant { tenant } => {
            of(SubjectKind::Tenant, tenant)
        }
        // The intake gives a job its number.
        Command::BeginJob(_)
        | Command::Erase { .. }
        | Command::Suppress { .. }
        | Command::Unsuppress { .. }
        | Command::ReportAddress { .. } => None,
        Command::Subscribe { .. }
        | Command::Unsubscribe { .. }
        | Command::Publish(_)
        | Command::Object(_)
        | Command::Resolved(_)
        | Command::Retract { .. }
        | Command::Mark { .. }
        | Command::ChangeItems { .. }
        | Command::Report { .. } => None,
    }
}

/// The subject of a cancel.
pub(crate) fn subject_of_cancelled(what: &Cancelled) -> ChangeSubject {
    match what {
        Cancelled::Event(id) => ChangeSubject::new(SubjectKind::Event, id.as_str()),
        Cancelled::Key(key) => ChangeSubject::new(SubjectKind::CancellationKey, key.as_str()),
    }
}

/// The subject of a line that counts the changes of commands such as this one.
pub(crate) fn counted_subject_of(command: &Command) -> Option<ChangeSubject> {
    match command {
        Command::Join { tenant, .. } | Command::Leave { tenant, .. } => {
            Some(ChangeSubject::new(SubjectKind::Tenant, tenant.as_str()))
        }
        Command::Suppress { .. } | Command::Unsuppress { .. } => {
            Some(ChangeSubject::all(SubjectKind::Address))
        }
        command => subject_of(command).map(|subject| ChangeSubject::all(subject.kind)),
    }
}

/// The tenant that a command is about.
pub(crate) fn tenant_of(command: &Command) -> Option<&Id> {
    match command {
        Command::Cancel { tenant, .. }
        | Command::Withdraw { tenant, .. }
        | Command::Preference { tenant, .. }
        | Command::Preferences { tenant, .. } => tenant.as_ref(),
        Command::Device { address, .. } => address.tenant.as_ref(),
        Command::Flush { view, .. } => view.tenant(),
        Command::Tenant { tenant, .. }
        | Command::DeleteTenant { tenant }
        | Command::Join { tenant, .. }
        | Command::Leave { tenant, .. } => Some(tenant),
        _ => None,
    }
}
