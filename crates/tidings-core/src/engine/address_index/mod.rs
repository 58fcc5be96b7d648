//! The index of addresses: who has one, or had it lately, found without going through recipients.
//!
//! It holds hashes by a key of the store, so that neither a copy of the index nor a line about it tells an address. A
//! row is written in the commit that changes the profile, by the shard of the recipient, and is read across shards. What
//! recipients have no more stays for as long as days are kept, and is removed in slices between steps.

pub(super) mod chore;
pub(super) mod hash;
pub(super) mod rows;
