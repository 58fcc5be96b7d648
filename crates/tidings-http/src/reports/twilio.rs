//! The calls of Twilio for messages that come in: people who answer STOP, and START later. They are signed by the token
//! of the account, over the address that is called and the fields.

use axum::http::header;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use ring::hmac;
use subtle::ConstantTimeEq as _;
use tidings_core::model::{AddressKind, ChannelNo, channel_kind};
use tidings_mail::MailEvent;
use tidings_node::Once;

use super::call::{Call, not_signed};
use super::reported::Reported;
use crate::error::{Code, Problem};

/// The words of one who wants no more, alone and in any case (Twilio, "default opt-out keywords").
const STOP: [&str; 8] =
    ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"];
/// The words of one who wants messages again.
const START: [&str; 3] = ["START", "UNSTOP", "YES"];

/// The reports of a call that a token signed. `brand` is the public address of the server, if it is known.
pub(crate) fn read(
    call: &Call<'_>,
    token: &str,
    brand: Option<&str>,
) -> Result<Vec<Reported>, Problem> {
    let fields: Vec<(String, String)> = form_urlencoded::parse(call.body).into_owned().collect();
    let signature = call.header("x-twilio-signature").unwrap_or_default();
    // What the caller says of the address opens nothing: the token signs it.
    let host = call.header(header::HOST.as_str()).unwrap_or_default();
    let by_host = ["https", "http"].map(|scheme| format!("{scheme}://{host}"));
    let mut bases = brand.map(str::to_owned).into_iter().chain(by_host);
    let is_signed = bases.any(|base| {
        let url = format!("{}/feedback/twilio", base.trim_end_matches('/'));
        bool::from(signed(token, &url, &fields).as_bytes().ct_eq(signature.as_bytes()))
    });
    if !is_signed {
        return Err(not_signed(
            "its signature is not one of this address and the account's token; the address has to be `url` of `[brand]` \
             and /feedback/twilio",
        ));
    }
    let field = |name: &str| {
        let found = fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim())
    };
    let from = field("From")
        .ok_or_else(|| Problem::new(Code::InvalidBody, "the field `From` is missing"))?;
    // Senders of other kinds, such as WhatsApp's, are no numbers.
    let Some(address) = AddressKind::Phone.read(from) else {
        return Ok(Vec::new());
    };
    let word = field("OptOutType").or(field("Body")).unwrap_or_default().to_ascii_uppercase();
    let event = match &*word {
        word if STOP.contains(&word) => MailEvent::OptedOut,
        word if START.contains(&word) => MailEvent::OptedIn,
        _ => return Ok(Vec::new()),
    };
    Ok(vec![Reported {
        event,
        channel: sms(),
        by: "twilio",
        hints: Vec::new(),
        words: word,
        at: None,
        address: Some(address),
        named: Vec::new(),
    }])
}

/// The identity of a call, by the id of the message that came in. A signed call says nothing of its time, so one that was
/// caught and comes again is known by this alone, as long as it is remembered.
pub(crate) fn identity(call: &Call<'_>) -> Once {
    let mut fields = form_urlencoded::parse(call.body);
    let sid = fields.find(|(name, _)| name == "MessageSid").map(|(_, sid)| sid.into_owned());
    // Without one the signature says the same of all fields.
    let known = sid.as_deref().or(call.header("x-twilio-signature")).unwrap_or_default();
    // No `Idempotency-Key` has a control character.
    let hash = digest(&SHA256, format!("\ntwilio\n{known}").as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hash.as_ref()[..16]);
    Once { key, request: key }
}

/// The channel of text messages.
fn sms() -> ChannelNo {
    channel_kind("sms").map_or(ChannelNo(0), |kind| kind.number)
}

/// The signature of a call (Twilio, "Validating Signatures from Twilio"): HMAC-SHA1 of the address and the fields in the
/// order of their names.
pub(crate) fn signed(token: &str, url: &str, fields: &[(String, String)]) -> String {
    let mut sorted: Vec<&(String, String)> = fields.iter().collect();
    sorted.sort();
    let mut text = url.to_owned();
    for (name, value) in sorted {
        text.push_str(name);
        text.push_str(value);
    }
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, token.as_bytes());
    STANDARD.encode(hmac::sign(&key, text.as_bytes()))
}
