//! The way from a node with parts of a store to the one with the intake, over HTTP.

use std::sync::Arc;
use std::time::Duration;

use tidings_node::{Batch, Link, Report};

use crate::http::{Cluster, acts};

/// Time limit of an exchange; an answer without acts comes after half a second.
const PATIENCE: Duration = Duration::from_secs(3);

/// The largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// The way to whoever has the intake, as the nodes know it.
pub(crate) struct HttpLink {
    cluster: Arc<Cluster>,
    agent: ureq::Agent,
}

impl HttpLink {
    /// Creates a link that follows the intake from node to node.
    #[must_use]
    pub(crate) fn new(cluster: Arc<Cluster>) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .http_status_as_error(false)
            .build()
            .new_agent();
        Self { cluster, agent }
    }
}

impl Link for HttpLink {
    fn exchange(&mut self, report: &Report) -> Result<Batch, String> {
        let members = self.cluster.membership();
        let holder = members.as_ref().and_then(|members| members.holder());
        let holder = holder.ok_or("no node is known to have the intake")?;
        let report = serde_json::to_vec(report).map_err(|fault| fault.to_string())?;
        let url = format!("{}{}", holder.member.address, acts::PATH);
        let bearer = format!("Bearer {}", holder.member.token.0);
        let answer = self
            .agent
            .post(&url)
            .header("authorization", bearer)
            .header("content-type", "application/json")
            .send(&report[..]);
        let mut answer = answer.map_err(|fault| fault.to_string())?;
        let status = answer.status();
        if status.as_u16() != 200 {
            return Err(format!("the answer is {status}"));
        }
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        let text = body.read_to_vec().map_err(|fault| fault.to_string())?;
        acts::read(&text)
    }
}
