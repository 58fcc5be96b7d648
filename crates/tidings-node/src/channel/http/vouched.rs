//! Evidence that our settings for a provider are good: messages that it took of late.
//!
//! Some refusals of a device have two causes that the answer does not distinguish: the device is gone, or our own
//! environment, topic or project is wrong, which refuses every device. An accepted message vouches for the settings;
//! without one such a refusal counts against the provider, and no device is given up for it.

use std::sync::atomic::{AtomicU32, Ordering};

/// Number of refusals in a row for which a message that was taken vouches.
const REFUSALS_MAX: u32 = 5;

/// The number of refusals that count against devices.
#[derive(Debug, Default)]
pub(super) struct DeviceRefusals(AtomicU32);

impl DeviceRefusals {
    /// Notes that a message was taken.
    pub(super) fn taken(&self) {
        self.0.store(REFUSALS_MAX, Ordering::Relaxed);
    }

    /// Notes a refusal. Returns whether it is the device's fault.
    pub(super) fn refused(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        self.0.fetch_update(set, fetch, one_less).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_3_no_device_is_given_up_until_a_message_was_taken_or_after_several_refusals() {
        let vouched = DeviceRefusals::default();
        assert!(!vouched.refused(), "nothing was taken yet");
        vouched.taken();
        for _ in 0..REFUSALS_MAX {
            assert!(vouched.refused());
        }
        assert!(!vouched.refused() && !vouched.refused());
        vouched.taken();
        assert!(vouched.refused());
    }
}
