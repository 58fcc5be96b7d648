//! Tokens in links: sealed, so that they say nothing of the recipient, and can't be forged or changed.
//!
//! A mail is the same bytes however often it is built, so a token is, too: its nonce is an HMAC of its content, by a key
//! of its own. Equal contents give equal tokens, and reveal nothing else. Different ones share a nonce with a probability
//! below one in a million for a hundred billion mails; AES-SIV would be one crate more for a bound that nobody meets.
//!
//! The link out carries what it leaves (recipient, channel, types by a hash of their names, the lane of a digest), so it
//! works after the message's day is deleted. The link to the rest names the message and its shown lines, since a later
//! configuration would show others.

use std::collections::BTreeSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::hmac;
use tidings_core::codec::{ByteReader, Corrupt, put_bytes, put_i64, put_u32, put_u64};
use tidings_core::content::Batch;
use tidings_core::model::{
    BucketNo, ChannelNo, ClosingId, MessageId, RecipientNo, Seq, channel_no,
};
use tidings_core::{Day, Id, Instant};

use crate::words::text::hex;

/// Number of bytes of the secret that tokens are sealed with.
pub const SECRET_BYTES: usize = 32;

/// Longer texts are no tokens.
const TOKEN_BYTES_MAX: usize = 2_000;
/// The form of what tokens hold.
const FORM: u8 = 1;
/// The form of a token of a tenant's mail.
const FORM_OF_TENANT: u8 = 2;
/// The most types that a token names.
const TYPES_MAX: usize = 32;

/// The key that seals tokens and opens them.
#[derive(Clone)]
pub struct TokenKey {
    nonce: hmac::Key,
    seal: LessSafeKey,
    code: hmac::Key,
}

/// The two uses of tokens: one can't stand for the other.
#[derive(Clone, Copy)]
enum TokenPurpose {
    Unsubscribe,
    Rest,
}

impl TokenPurpose {
    fn name(self) -> &'static [u8] {
        match self {
            Self::Unsubscribe => b"unsubscribe",
            Self::Rest => b"rest",
        }
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TokenKey(…)")
    }
}

impl TokenKey {
    /// The key of a secret.
    #[must_use]
    pub fn new(secret: &[u8; SECRET_BYTES]) -> Self {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let part = |name: &str| hmac::sign(&secret, name.as_bytes());
        let seal = UnboundKey::new(&AES_256_GCM, part("tidings token seal").as_ref());
        Self {
            nonce: hmac::Key::new(hmac::HMAC_SHA256, part("tidings token nonce").as_ref()),
            code: hmac::Key::new(hmac::HMAC_SHA256, part("tidings token code").as_ref()),
            seal: LessSafeKey::new(
                seal.expect("a key of AES-256 has as many bytes as SHA-256 gives"),
            ),
        }
    }

    /// The first hexadecimal digits of the authentication code of a text, for a use of it.
    #[must_use]
    pub fn code(&self, of: &str, text: &str, digits: usize) -> String {
        let mut named = hmac::Context::with_key(&self.code);
        named.update(of.as_bytes());
        named.update(&[0]);
        named.update(text.as_bytes());
        let mut code = hex(named.sign().as_ref());
        code.truncate(digits.next_multiple_of(2));
        code
    }

    fn seal(&self, purpose: TokenPurpose, content: Vec<u8>) -> String {
        let mut named = hmac::Context::with_key(&self.nonce);
        named.update(purpose.name());
        named.update(&content);
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&named.sign().as_ref()[..NONCE_LEN]);
        let mut sealed = content;
        let aad = Aad::from(purpose.name());
        self.seal
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            .expect("a token is far shorter than what one nonce may seal");
        sealed.splice(0..0, nonce);
        URL_SAFE_NO_PAD.encode(sealed)
    }

    fn open(&self, purpose: TokenPurpose, token: &str) -> Option<Vec<u8>> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let sealed = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut rest = rest.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let content = self.seal.open_in_place(nonce, Aad::from(purpose.name()), &mut rest).ok()?;
        Some(content.to_vec())
    }
}

/// A name in few bytes, by which it is found among those that are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShortName([u8; 4]);

impl ShortName {
    /// The short form of a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let hash = digest(&SHA256, name.as_bytes());
        let mut short = [0; 4];
        short.copy_from_slice(&hash.as_ref()[..4]);
        Self(short)
    }
}

/// The content of the token in `/u/{token}`: the recipient of the mail, and its subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsubscribe {
    /// The recipient.
    pub recipient: Id,
    /// The channel.
    pub channel: ChannelNo,
    /// The message.
    pub message: MessageId,
    /// The day of its closing.
    pub day: Day,
    /// The lane, if the mail is a digest (or has more types than are named here).
    pub lane: Option<ShortName>,
    /// The types in the mail that are not required.
    pub types: BTreeSet<ShortName>,
    /// The tenant of its entries; `None` = they are of none.
    pub tenant: Option<MadeTenant>,
}

/// A tenant, distinct from earlier and later ones with the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeTenant {
    /// The id.
    pub id: Id,
    /// The instant of its creation.
    pub made: Instant,
}

impl Unsubscribe {
    /// The token's content for a mail with these types.
    pub(crate) fn of<'k>(
        batch: &Batch,
        is_digest: bool,
        types: impl Iterator<Item = &'k str>,
    ) -> Option<Self> {
        let mut types: BTreeSet<ShortName> = types.map(ShortName::of).collect();
        let is_lane = is_digest || types.len() > TYPES_MAX;
        while types.len() > TYPES_MAX {
            types.pop_last();
        }
        Some(Self {
            recipient: batch.recipient.id.clone(),
            channel: channel_no(&batch.channel)?,
            message: batch.message,
            day: batch.at.day(),
            lane: is_lane.then(|| ShortName::of(&batch.lane)),
            types,
            tenant: batch
                .tenant
                .as_ref()
                .map(|known| MadeTenant { id: known.id.clone(), made: known.made }),
        })
    }

    /// Seals the content into the token of a link.
    #[must_use]
    pub fn seal(&self, key: &TokenKey) -> String {
        let mut out = vec![if self.tenant.is_some() { FORM_OF_TENANT } else { FORM }];
        if let Some(MadeTenant { id, made }) = &self.tenant {
            put_bytes(&mut out, id.as_str().as_bytes());
            put_i64(&mut out, made.0);
        }
        put_bytes(&mut out, self.recipient.as_str().as_bytes());
        out.push(self.channel.0);
        put_message(&mut out, self.message, self.day);
        out.push(u8::from(self.lane.is_some()));
        for name in self.lane.iter().chain(&self.types) {
            out.extend_from_slice(&name.0);
        }
        key.seal(TokenPurpose::Unsubscribe, out)
    }

    /// The content of a token; `None` if it was not sealed with this key.
    #[must_use]
    pub fn open(key: &TokenKey, token: &str) -> Option<Self> {
        let content = key.open(TokenPurpose::Unsubscribe, token)?;
        let mut reader = ByteReader::new(&content, "token");
        let tenant = match reader.byte().ok()? {
            FORM => None,
            FORM_OF_TENANT => {
                let (id, made) = (id(&mut reader)?, Instant(reader.i64().ok()?));
                Some(MadeTenant { id, made })
            }
            _ => return None,
        };
        let recipient = id(&mut reader)?;
        let channel = ChannelNo(reader.byte().ok()?);
        let (message, day) = message(&mut reader).ok()?;
        let has_lane = reader.byte().ok()? == 1;
        let mut names = reader.rest().chunks_exact(4).map(|name| {
            let mut short = [0; 4];
            short.copy_from_slice(name);
            ShortName(short)
        });
        Some(Self {
            recipient,
            channel,
            message,
            day,
            lane: if has_lane { names.next() } else { None },
            types: names.collect(),
            tenant,
        })
    }
}

/// The content of the token in `/more/{token}`: a message, and what of it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The message.
    pub message: MessageId,
    /// The day of its closing.
    pub day: Day,
    /// The lines that the mail showed, by their order.
    pub shown: BTreeSet<usize>,
}

impl Rest {
    /// Seals the content into the token of a link.
    #[must_use]
    pub fn seal(&self, key: &TokenKey) -> String {
        let mut out = vec![FORM];
        put_message(&mut out, self.message, self.day);
        let mut next = 0;
        for order in &self.shown {
            put_u64(&mut out, (order - next) as u64);
            next = order + 1;
        }
        key.seal(TokenPurpose::Rest, out)
    }

    /// The content of a token; `None` if it was not sealed with this key.
    #[must_use]
    pub fn open(key: &TokenKey, token: &str) -> Option<Self> {
        let content = key.open(TokenPurpose::Rest, token)?;
        let mut reader = ByteReader::new(&content, "token");
        form(&mut reader)?;
        let (message, day) = message(&mut reader).ok()?;
        let mut shown = BTreeSet::new();
        let mut next = 0_usize;
        while !reader.is_empty() {
            let order = next.checked_add(usize::try_from(reader.u64().ok()?).ok()?)?;
            shown.insert(order);
            next = order.checked_add(1)?;
        }
        Some(Self { message, day, shown })
    }
}

fn id(reader: &mut ByteReader<'_>) -> Option<Id> {
    Id::new(str::from_utf8(reader.bytes().ok()?).ok()?).ok()
}

fn form(reader: &mut ByteReader<'_>) -> Option<()> {
    (reader.byte().ok()? == FORM).then_some(())
}

fn put_message(out: &mut Vec<u8>, MessageId { closing, number }: MessageId, day: Day) {
    put_u32(out, u32::from(closing.bucket.0));
    put_u64(out, closing.seq.0);
    put_u32(out, number.0);
    put_i64(out, i64::from(day.0));
}

fn message(reader: &mut ByteReader<'_>) -> Result<(MessageId, Day), Corrupt> {
    let corrupt = reader.corrupt();
    let bucket = u16::try_from(reader.u32()?).map_err(|_| corrupt)?;
    let closing = ClosingId { bucket: BucketNo(bucket), seq: Seq(reader.u64()?) };
    let message = closing.message(RecipientNo(reader.u32()?));
    let day = i32::try_from(reader.i64()?).map_err(|_| corrupt)?;
    Ok((message, Day(day)))
}

#[cfg(test)]
mod tests {
    use tidings_core::model::EMAIL_NO;

    use super::*;

    fn key(byte: u8) -> TokenKey {
        TokenKey::new(&[byte; SECRET_BYTES])
    }

    fn message_id() -> MessageId {
        let closing = ClosingId { bucket: BucketNo(63), seq: Seq(u64::MAX) };
        closing.message(RecipientNo(u32::MAX))
    }

    fn unsubscribe(recipient: &str) -> Unsubscribe {
        Unsubscribe {
            recipient: Id::new(recipient).unwrap(),
            channel: EMAIL_NO,
            message: message_id(),
            day: Day(-3),
            lane: Some(ShortName::of("digest:weekly")),
            types: ["comment", "share"].map(ShortName::of).into(),
            tenant: None,
        }
    }

    #[test]
    fn tokens_come_back_and_are_the_same_each_time() {
        let unsubscribe = unsubscribe("ada@example.org");
        let token = unsubscribe.seal(&key(1));
        assert_eq!(token, unsubscribe.seal(&key(1)));
        assert_eq!(Unsubscribe::open(&key(1), &token), Some(unsubscribe.clone()));
        let tenant = MadeTenant { id: Id::new("acme").unwrap(), made: Instant(-5) };
        let of_tenant = Unsubscribe { tenant: Some(tenant), ..unsubscribe };
        let token = of_tenant.seal(&key(1));
        assert_eq!(Unsubscribe::open(&key(1), &token), Some(of_tenant));
        let rest = Rest { message: message_id(), day: Day(19_000), shown: [0, 1, 5, 1_000].into() };
        let token = rest.seal(&key(1));
        assert_eq!(Rest::open(&key(1), &token), Some(rest));
    }

    #[test]
    fn a_token_that_was_changed_is_none() {
        let token = unsubscribe("ada").seal(&key(1));
        assert_eq!(Unsubscribe::open(&key(2), &token), None);
        // Each has its use.
        assert_eq!(Rest::open(&key(1), &token), None);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(Unsubscribe::open(&key(1), &changed), None, "{at}");
            assert_eq!(Unsubscribe::open(&key(1), &token[..at]), None, "{at}");
        }
        for odd in ["", "é", "====", &"A".repeat(TOKEN_BYTES_MAX + 1)] {
            assert_eq!(Unsubscribe::open(&key(1), odd), None);
        }
    }

    #[test]
    fn a_token_says_nothing_of_the_recipient() {
        let of = |recipient: &str| unsubscribe(recipient).seal(&key(1));
        let (ada, bob) = (of("ada"), of("bob"));
        let sealed = URL_SAFE_NO_PAD.decode(&ada).unwrap();
        assert!(!sealed.windows(3).any(|bytes| bytes == b"ada"));
        // Two of equal length have nothing in common.
        let same = ada.bytes().zip(bob.bytes()).filter(|(a, b)| a == b).count();
        assert!(same < ada.len() / 4, "{ada} {bob}");
    }

    #[test]
    fn the_longest_token_fits_a_header_line() {
        let mut long = unsubscribe(&"x".repeat(256));
        long.types = (0..TYPES_MAX).map(|n| ShortName::of(&n.to_string())).collect();
        assert!(long.seal(&key(1)).len() < 620);
    }
}
