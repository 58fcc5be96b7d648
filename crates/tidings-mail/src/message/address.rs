//! Addresses of mailboxes, and the bound on their local part.

use lettre::Address;
use tidings_core::model::Mailbox;

/// The most bytes of what stands before the `@` (RFC 5321, section 4.5.3.1.1).
pub(crate) const LOCAL_BYTES_MAX: usize = 64;

/// An address as servers take it: the one of those that recipients may have ([`Mailbox`]). A local part of another
/// script has no form in ASCII; the server has to take it as it is (RFC 6531).
#[must_use]
pub fn address(text: &str) -> Option<Address> {
    let mailbox = Mailbox::parse(text).ok()?;
    Some(Address::new_dangerous(mailbox.local(), mailbox.domain()))
}
