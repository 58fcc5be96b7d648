//! Bounds on the size of records that grow with the pending entries: each is a value of the store.

use roaring::RoaringBitmap;

/// The approximate size in bytes at which records that grow with the pending entries are cut.
pub(crate) const RECORD_BYTES: usize = 256 << 10;

/// Cuts a list that may be as long as all pending entries into pieces that a row can hold, in order.
pub(crate) fn pieces<T>(items: Vec<T>, bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut pieces: Vec<Vec<T>> = Vec::new();
    let mut room = 0_usize;
    for item in items {
        let taken = bytes(&item) + size_of::<T>();
        match pieces.last_mut().filter(|_| taken <= room) {
            Some(piece) => {
                room -= taken;
                piece.push(item);
            }
            None => {
                room = RECORD_BYTES.saturating_sub(taken);
                pieces.push(vec![item]);
            }
        }
    }
    pieces
}

/// An upper bound on the bytes of a set in a row.
pub(crate) fn set_bytes(recipients: &RoaringBitmap) -> usize {
    8 + 2 * recipients.serialized_size()
}
