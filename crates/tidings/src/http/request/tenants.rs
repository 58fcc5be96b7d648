//! The tenants of tokens and keys, as the node has them.

use tidings_core::engine::{Refused, TenantDirectory};
use tidings_core::tenant::TenantNo;
use tidings_core::{Command, Id};
use tidings_node::{Handle, RuntimeError};

use crate::http::cluster::split::OwnReplies;

/// The number of the tenant of a token that was issued in this second, if it is there and can be read now.
pub(in crate::http) fn of_token(handle: &Handle, id: &Id, issued_s: i64) -> Option<TenantNo> {
    let found = handle.look(|node| TenantDirectory::of(node.engine()).of_token(id, issued_s));
    found.ok().flatten()
}

/// The id of a tenant, if it is there and can be read now.
pub(in crate::http) fn id(handle: &Handle, number: TenantNo) -> Option<Id> {
    let found = handle.look(|node| TenantDirectory::of(node.engine()).id(number).cloned());
    found.ok().flatten()
}

/// The recipients of commands who are no members of the tenant that calls, by the places of the commands: to it they are
/// as if they were not there.
#[derive(Debug, Default)]
pub(in crate::http) struct Strangers(Vec<(usize, Id)>);

impl Strangers {
    /// Takes their commands out; `None` = the host calls, or an end user. The node has to have the recipients.
    ///
    /// # Errors
    /// [`RuntimeError`] where the node can't be read now.
    pub(in crate::http) fn taken_out(
        handle: &Handle,
        tenant: Option<TenantNo>,
        commands: Vec<Command>,
    ) -> Result<(Vec<Command>, Self), RuntimeError> {
        let Some(tenant) = tenant else {
            return Ok((commands, Self::default()));
        };
        handle.look(|node| {
            let tenants = TenantDirectory::of(node.engine());
            let (mut of_members, mut strangers) = (Vec::with_capacity(commands.len()), Vec::new());
            for (place, command) in commands.into_iter().enumerate() {
                match command.recipient().filter(|id| !tenants.is_member(id, tenant)) {
                    Some(stranger) => strangers.push((place, stranger.clone())),
                    None => of_members.push(command),
                }
            }
            (of_members, Self(strangers))
        })
    }

    /// The replies to all commands, in their order.
    pub(in crate::http) fn among(self, replies: OwnReplies) -> OwnReplies {
        let mut all = Vec::with_capacity(replies.len() + self.0.len());
        let (mut replies, mut strangers) = (replies.into_iter(), self.0.into_iter().peekable());
        loop {
            let stranger = strangers.next_if(|(place, _)| *place == all.len());
            match stranger
                .map(|(_, id)| Err(Refused::UnknownRecipient(id)))
                .or_else(|| replies.next())
            {
                Some(reply) => all.push(reply),
                None => return all,
            }
        }
    }
}
