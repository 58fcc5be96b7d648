//! Push services: of devices and of browsers.

pub(crate) mod apns;
pub(crate) mod fcm;
pub(crate) mod vapid;
