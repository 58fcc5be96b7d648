//! Tokens of OAuth 2.0, by which a mail server knows who sends (XOAUTH2): fixed ones, those of a file, and those that a
//! token endpoint grants, which are kept until shortly before they end.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tidings_core::Instant;

use crate::channel::http::{AllowedHosts, HostPlace, HttpAnswer, HttpRequest, ProviderUrl, client};
use crate::channel::http::{CallEnd, Wire};
use crate::channel::patience::ServerTimeouts;
use crate::channel::provider_open_error::ProviderOpenError;
use crate::clock::Clock;

/// The milliseconds before its end in which a token is not used any more.
const MARGIN_MS: i64 = 60_000;
/// The seconds for which a token is good where its endpoint does not say.
const USUAL_S: i64 = 3_600;
/// The most seconds for which a token is believed to be good.
const MOST_S: i64 = 86_400;

/// The source of tokens.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::channel) enum TokenSource {
    /// A token that stays.
    Fixed(String),
    /// A file in which another program keeps one; it is read for each login.
    File(PathBuf),
    /// A token endpoint.
    Grant(Grant),
}

/// A grant of a token endpoint (RFC 6749): by a refresh token where there is one, else by the client's own credentials.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::channel) struct Grant {
    token_url: String,
    client_id: String,
    client_secret: Option<String>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

impl Grant {
    /// Takes the options of a grant out of an address; `None` = it has none.
    pub(super) fn read(url: &mut ProviderUrl<'_>) -> Result<Option<Self>, ProviderOpenError> {
        let fault = |why: &str| ProviderOpenError::Address(why.to_owned());
        let token_url = url.option("token_url")?;
        let client_id = url.option("client_id")?;
        let client_secret = url.secret_option("client_secret")?;
        let refresh_token = url.secret_option("refresh_token")?;
        let scope = url.option("scope")?;
        let Some(token_url) = token_url else {
            let others = [&client_id, &client_secret, &refresh_token, &scope];
            if others.into_iter().any(Option::is_some) {
                return Err(fault("`token_url` is missing: it grants the tokens"));
            }
            return Ok(None);
        };
        let is_safe = match tidings_mail::web_address(&token_url) {
            Some(url) if url.starts_with("https://") => true,
            Some(url) => HostPlace::of(&url) == Some(HostPlace::Loopback),
            None => false,
        };
        if !is_safe {
            return Err(fault("`token_url` is an `https` address"));
        }
        let client_id = client_id.ok_or_else(|| fault("`token_url` wants a `client_id`"))?;
        if client_secret.is_none() && refresh_token.is_none() {
            return Err(fault(
                "`token_url` wants `client_secret=${NAME}`, or `refresh_token=${NAME}`, or both",
            ));
        }
        Ok(Some(Self { token_url, client_id, client_secret, refresh_token, scope }))
    }

    /// The request for a token; `refresh` is the newest refresh token.
    fn request(&self, refresh: Option<&str>) -> HttpRequest {
        let mut fields = vec![("client_id", &*self.client_id)];
        fields.extend(self.client_secret.as_deref().map(|secret| ("client_secret", secret)));
        match refresh {
            Some(token) => {
                fields.extend([("grant_type", "refresh_token"), ("refresh_token", token)]);
            }
            None => fields.push(("grant_type", "client_credentials")),
        }
        fields.extend(self.scope.as_deref().map(|scope| ("scope", scope)));
        let form = fields.into_iter().map(|(name, value)| {
            format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
        });
        HttpRequest {
            method: "POST",
            url: self.token_url.clone(),
            headers: vec![
                ("content-type", "application/x-www-form-urlencoded".to_owned()),
                ("accept", "application/json".to_owned()),
            ],
            body: form.collect::<Vec<_>>().join("&").into_bytes(),
        }
    }
}

/// The tokens of a login.
pub(super) struct Tokens {
    source: TokenSource,
    wire: Box<dyn Wire>,
    clock: Arc<dyn Clock>,
    granted: Mutex<GrantedTokens>,
}

/// The tokens that the endpoint has granted.
#[derive(Default)]
struct GrantedTokens {
    /// The token, and the instant until which it is used.
    token: Option<(String, Instant)>,
    /// The newest refresh token, where the endpoint gave another than that of the address.
    refresh: Option<String>,
}

impl Tokens {
    /// Prepares the tokens of a source, without asking for one.
    pub(super) fn new(
        source: &TokenSource,
        patience: ServerTimeouts,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, ProviderOpenError> {
        Ok(Self {
            source: source.clone(),
            wire: client(AllowedHosts::Anywhere, patience)?,
            clock: Arc::clone(clock),
            granted: Mutex::default(),
        })
    }

    fn tokens(&self) -> MutexGuard<'_, GrantedTokens> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token to log in with. Whoever needs one while another thread asks for it waits.
    ///
    /// # Errors
    /// The reason why there is none, for operators.
    pub(super) fn token(&self) -> Result<String, String> {
        match &self.source {
            TokenSource::Fixed(token) => Ok(token.clone()),
            TokenSource::File(file) => {
                let read = std::fs::read_to_string(file);
                let token = read.map_err(|fault| format!("{}: {fault}", file.display()))?;
                match token.trim() {
                    "" => Err(format!("{}: it is empty", file.display())),
                    token => Ok(token.to_owned()),
                }
            }
            TokenSource::Grant(grant) => {
                let mut granted = self.tokens();
                let now = self.clock.now();
                match &granted.token {
                    Some((token, until)) if now < *until => Ok(token.clone()),
                    _ => self.request_token(grant, &mut granted),
                }
            }
        }
    }

    /// Forgets a token that a server has refused.
    pub(super) fn forget(&self) {
        self.tokens().token = None;
    }

    fn request_token(&self, grant: &Grant, granted: &mut GrantedTokens) -> Result<String, String> {
        // A client that logs in by its own credentials goes on so, whatever the endpoint gives along.
        let configured = grant.refresh_token.as_deref();
        let refresh = configured.map(|configured| granted.refresh.as_deref().unwrap_or(configured));
        let answer = match self.wire.call(&grant.request(refresh), &|| true) {
            CallEnd::Answered(answer) => answer,
            CallEnd::Broken(why, _) => return Err(format!("`token_url`: {why}")),
            CallEnd::Withheld | CallEnd::Barred => {
                return Err("`token_url` was not called".to_owned());
            }
        };
        self.read(&answer, granted)
    }

    fn read(&self, answer: &HttpAnswer, granted: &mut GrantedTokens) -> Result<String, String> {
        let json = answer.json();
        let token = json["access_token"].as_str().filter(|_| answer.status == 200);
        let Some(token) = token else {
            return Err(format!("`token_url`: {}", answer.why(json["error"].as_str())));
        };
        let expires_in = &json["expires_in"];
        // Some write the number as a text.
        let good_s =
            expires_in.as_i64().or_else(|| expires_in.as_str()?.parse().ok()).unwrap_or(USUAL_S);
        let good_ms = good_s.clamp(0, MOST_S) * 1_000;
        granted.token = Some((token.to_owned(), self.clock.now().plus_ms(good_ms - MARGIN_MS)));
        if let Some(refresh) = json["refresh_token"].as_str() {
            granted.refresh = Some(refresh.to_owned());
        }
        Ok(token.to_owned())
    }
}
