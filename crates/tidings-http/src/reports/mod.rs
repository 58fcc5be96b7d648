//! Reports of providers as they send them: the check that a call is its provider's, what it reports, and numbers of both.

pub(crate) mod call;
pub(crate) mod mailgun;
pub(crate) mod postmark;
pub(crate) mod reported;
pub(crate) mod sendgrid;
pub(crate) mod ses;
pub(crate) mod state;
pub(crate) mod twilio;
