//! The key of the tokens in links: its secret is in the store, so that links work after a restart, after a restore,
//! and on every server of the store.

use tidings_core::codec::FORM;
use tidings_core::journal::{Key, Owner, Partition, ReadView as _, Table, Unreadable, Write, body};
use tidings_mail::{SECRET_BYTES, TokenKey};
use tidings_store::Store;

use crate::commit::view::StoreView;
use crate::error::Error;

/// The key of a store's tokens; a store that has none keeps `fresh`, random bits, as its secret. Nobody else
/// may use the store meanwhile.
///
/// # Errors
/// [`Error`] where the store can't be read or written.
pub fn token_key(store: &dyn Store, fresh: &[u8; SECRET_BYTES]) -> Result<TokenKey, Error> {
    let key = Key::of(Owner::Intake, Table::TokenSecret).done();
    if let Some(row) = StoreView::of(store)?.get(Partition::Base, &key)? {
        let secret = body("the secret of tokens", &row)?
            .try_into()
            .map_err(|_| Unreadable("the secret of tokens is torn".to_owned()))?;
        return Ok(TokenKey::new(secret));
    }
    let mut row = vec![FORM];
    row.extend_from_slice(fresh);
    let write = Write { partition: Partition::Base, key, value: Some(row) };
    store.commit(vec![write].into())?;
    Ok(TokenKey::new(fresh))
}

#[cfg(test)]
mod tests {
    use tidings_mail::Rest;
    use tidings_store::MemoryStore;

    use super::*;

    #[test]
    fn the_first_secret_stays() {
        let store = MemoryStore::default();
        let rest =
            Rest { message: Default::default(), day: tidings_core::Day(0), shown: [1].into() };
        let first = token_key(&store, &[1; SECRET_BYTES]).unwrap();
        let second = token_key(&store, &[2; SECRET_BYTES]).unwrap();
        let token = rest.seal(&first);
        assert_eq!(Rest::open(&second, &token), Some(rest));
    }
}
