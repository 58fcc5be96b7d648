//! Providers of mails over HTTP: whole mails or their parts, and what their refusals mean.

mod aws_role;
pub(crate) mod mailgun;
pub(super) mod mime;
pub(crate) mod postmark;
pub(super) mod refused;
pub(crate) mod sendgrid;
pub(crate) mod ses;
