//! Temporary credentials of an IAM role, which the machine or the container has: asked for, kept, and asked for anew some
//! minutes before they end.
//!
//! A container has an address for them in its environment (ECS, EKS Pod Identity). A machine asks the instance metadata
//! service, version 2: for a token, for the role's name, and for the credentials.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tidings_core::Instant;
use tidings_core::model::MINUTE_MS;

use crate::channel::http::{HttpAnswer, HttpRequest};
use crate::channel::{Outcome, ProviderOpenError, Scope};

/// The time before their end at which credentials are asked for anew.
const EARLY_MS: i64 = 5 * MINUTE_MS;

/// The places of Amazon's services for containers and machines.
const CONTAINER: &str = "http://169.254.170.2";
const INSTANCE: &str = "http://169.254.169.254";
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

/// The hosts at which an address without TLS is believed, as Amazon's own clients do.
const PLAIN_HOSTS: [&str; 6] =
    ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost", "127.0.0.1", "[::1]"];

/// A key and its secret, with the token of a temporary one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) key_id: String,
    pub(super) secret: String,
    pub(super) session: Option<String>,
}

/// A role.
pub(super) struct AwsRole {
    source: CredentialSource,
    state: Mutex<RoleState>,
}

/// The place that knows its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CredentialSource {
    Container { url: String, token: Option<SessionToken> },
    Instance { base: String },
}

/// The token that a container shows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SessionToken {
    Given(String),
    /// A file that is written anew before its token ends.
    File(String),
}

#[derive(Default)]
struct RoleState {
    /// The credentials, and the instant of their end.
    credentials: Option<(Credentials, Instant)>,
    step: RoleStep,
}

/// The steps of a login at a machine.
#[derive(Clone, Default)]
enum RoleStep {
    #[default]
    First,
    Name(String),
    Keys(String, String),
}

fn away(why: &str) -> Outcome {
    Outcome::away(format!("login: {why}"))
}

impl AwsRole {
    /// The role of this process by its environment; `metadata` = another metadata service than Amazon's.
    ///
    /// # Errors
    /// [`ProviderOpenError::Address`] where the environment names an address that can't be believed.
    pub(super) fn of(
        variable: &dyn Fn(&str) -> Option<String>,
        metadata: Option<String>,
    ) -> Result<Self, ProviderOpenError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let relative = set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        let url = relative
            .map(|path| format!("{}{path}", metadata.as_deref().unwrap_or(CONTAINER)))
            .or_else(|| set("AWS_CONTAINER_CREDENTIALS_FULL_URI"));
        let source = match url {
            None => {
                CredentialSource::Instance { base: metadata.unwrap_or_else(|| INSTANCE.to_owned()) }
            }
            Some(url) if is_believed(&url) => {
                let file = set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").map(SessionToken::File);
                let from_environment =
                    || set("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(SessionToken::Given);
                CredentialSource::Container { url, token: file.or_else(from_environment) }
            }
            Some(_) => {
                return Err(ProviderOpenError::Address(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI is an `https` address, or one of this machine"
                        .to_owned(),
                ));
            }
        };
        Ok(Self { source, state: Mutex::default() })
    }

    /// The credentials, once there was a login.
    pub(super) fn credentials(&self) -> Result<Credentials, Outcome> {
        let credentials =
            self.state().credentials.as_ref().map(|(credentials, _)| credentials.clone());
        credentials.ok_or_else(|| away("there are no credentials yet"))
    }

    /// The next request of a login, if there has to be one now.
    pub(super) fn login(&self, now: Instant) -> Result<Option<HttpRequest>, Outcome> {
        let state = self.state();
        if state.credentials.as_ref().is_some_and(|(_, until)| now < until.plus_ms(-EARLY_MS)) {
            return Ok(None);
        }
        let base = match &self.source {
            CredentialSource::Instance { base } => base,
            CredentialSource::Container { url, token } => {
                let request = HttpRequest::bare("GET", url.clone());
                let token = token.as_ref().map(SessionToken::read).transpose()?;
                return Ok(Some(match token {
                    Some(token) => request.with("authorization", token),
                    None => request,
                }));
            }
        };
        const TOKEN: &str = "x-aws-ec2-metadata-token";
        Ok(Some(match &state.step {
            RoleStep::First => HttpRequest::bare("PUT", format!("{base}/latest/api/token"))
                .with("x-aws-ec2-metadata-token-ttl-seconds", "60"),
            RoleStep::Name(token) => {
                HttpRequest::bare("GET", format!("{base}{ROLES}")).with(TOKEN, token.as_str())
            }
            RoleStep::Keys(token, role) => {
                HttpRequest::bare("GET", format!("{base}{ROLES}{role}")).with(TOKEN, token.as_str())
            }
        }))
    }

    /// Keeps what the answer to a step says.
    pub(super) fn logged_in(&self, answer: &HttpAnswer, now: Instant) -> Result<(), Outcome> {
        let mut state = self.state();
        let step = std::mem::take(&mut state.step);
        if answer.status != 200 {
            return Err(Outcome::Away {
                scope: Scope::Provider,
                why: format!("login: the credentials of a role: {}", answer.why(None)),
                after_ms: answer.retry_after_ms(now),
            });
        }
        let line = || {
            let text = std::str::from_utf8(&answer.body).ok()?.lines().next()?.trim();
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
            is_plain.then(|| text.to_owned())
        };
        state.step = match (&self.source, step) {
            (CredentialSource::Instance { .. }, RoleStep::First) => {
                RoleStep::Name(line().ok_or_else(|| away("the machine gives no token"))?)
            }
            (CredentialSource::Instance { .. }, RoleStep::Name(token)) => {
                RoleStep::Keys(token, line().ok_or_else(|| away("the machine has no role"))?)
            }
            (CredentialSource::Container { .. }, _)
            | (CredentialSource::Instance { .. }, RoleStep::Keys(..)) => {
                let read = read(&answer.json());
                state.credentials = Some(read.ok_or_else(|| away("the role has no credentials"))?);
                RoleStep::First
            }
        };
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, RoleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionToken {
    fn read(&self) -> Result<String, Outcome> {
        match self {
            Self::Given(token) => Ok(token.clone()),
            Self::File(path) => {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|fault| away(&format!("the token's file: {fault}")))?;
                Ok(text.trim().to_owned())
            }
        }
    }
}

/// Returns true if credentials may come from an address.
fn is_believed(url: &str) -> bool {
    let plain = url.strip_prefix("http://").is_some_and(|rest| {
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        let has = |plain_host: &&str| {
            let port = host.strip_prefix(*plain_host);
            port.is_some_and(|port| port.is_empty() || port.starts_with(':'))
        };
        PLAIN_HOSTS.iter().any(has)
    });
    plain || url.starts_with("https://")
}

/// The credentials in an answer, and the instant of their end.
fn read(json: &Value) -> Option<(Credentials, Instant)> {
    let text = |name: &str| json[name].as_str().map(str::to_owned);
    let credentials = Credentials {
        key_id: text("AccessKeyId")?,
        secret: text("SecretAccessKey")?,
        session: Some(text("Token")?),
    };
    Some((credentials, Instant::parse(json["Expiration"].as_str()?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(1_709_798_400_000);
    const KEYS: &str = r#"{"Code": "Success", "AccessKeyId": "ASIA", "SecretAccessKey": "s",
        "Token": "t", "Expiration": "2024-03-07T14:00:00Z"}"#;

    fn says(status: u16, body: &str) -> HttpAnswer {
        HttpAnswer { status, body: body.as_bytes().to_vec(), ..HttpAnswer::default() }
    }

    fn role(variables: &[(&str, &str)]) -> Result<AwsRole, ProviderOpenError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        AwsRole::of(&variable, None)
    }

    #[test]
    fn field_4_a_machine_is_asked_in_three_steps_and_again_before_the_end() {
        let role = role(&[]).unwrap();
        assert!(role.credentials().is_err());
        let next = |now| role.login(now).unwrap().unwrap();
        let first = next(NOW);
        assert_eq!((first.method, &*first.url), ("PUT", "http://169.254.169.254/latest/api/token"));
        role.logged_in(&says(200, "TOKEN"), NOW).unwrap();
        let name = next(NOW);
        assert!(name.method == "GET" && name.url.ends_with("/iam/security-credentials/"));
        assert_eq!(name.headers, [("x-aws-ec2-metadata-token", "TOKEN".to_owned())]);
        role.logged_in(&says(200, "mailer\n"), NOW).unwrap();
        assert!(next(NOW).url.ends_with("/iam/security-credentials/mailer"));
        role.logged_in(&says(200, KEYS), NOW).unwrap();
        let credentials = role.credentials().unwrap();
        assert_eq!((&*credentials.key_id, credentials.session.as_deref()), ("ASIA", Some("t")));
        let end = Instant::parse("2024-03-07T14:00:00Z").unwrap();
        assert!(role.login(end.plus_ms(-EARLY_MS - 1)).unwrap().is_none());
        assert_eq!(next(end.plus_ms(-EARLY_MS)).method, "PUT");
        // A step that is refused begins anew.
        role.logged_in(&says(200, "TOKEN"), NOW).unwrap();
        assert!(role.logged_in(&says(401, ""), NOW).is_err());
        assert_eq!(next(end).method, "PUT");
        role.logged_in(&says(200, "TOKEN"), NOW).unwrap();
        assert!(role.logged_in(&says(200, ""), NOW).is_err(), "a machine without a role");
    }

    #[test]
    fn field_4_a_container_shows_its_token_to_whom_it_may_believe() {
        let relative = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/x");
        let request = role(&[relative]).unwrap().login(NOW).unwrap().unwrap();
        assert_eq!(request.url, "http://169.254.170.2/v2/credentials/x");
        let full = |url| ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
        let token = ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "secret");
        let eks = role(&[full("http://169.254.170.23/v1/credentials"), token]).unwrap();
        let request = eks.login(NOW).unwrap().unwrap();
        assert_eq!(request.headers, [("authorization", "secret".to_owned())]);
        eks.logged_in(&says(200, KEYS), NOW).unwrap();
        assert!(eks.login(NOW).unwrap().is_none());
        assert!(eks.logged_in(&says(200, "{}"), NOW).is_err());
        for (url, is_believed) in [
            ("https://vault.example.org/x", true),
            ("http://localhost:8080/x", true),
            ("http://vault.example.org/x", false),
            ("http://169.254.170.23.evil.example/x", false),
            ("ftp://127.0.0.1/x", false),
        ] {
            assert_eq!(role(&[full(url), token]).is_ok(), is_believed, "{url}");
        }
        let file = ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/nowhere/token");
        assert!(role(&[relative, file]).unwrap().login(NOW).is_err());
    }
}
