//! Keys of signed calls ([Standard Webhooks](https://www.standardwebhooks.com), version 1).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// The prefix of a secret in the form that the specification gives it; the rest is base64.
const PREFIX: &str = "whsec_";
/// The fewest bytes of a secret. The specification recommends 24 to 64.
const BYTES_MIN: usize = 16;

/// A key by which calls are signed, so that the receiver knows who calls.
pub struct WebhookKey(hmac::Key);

impl WebhookKey {
    /// The key of a secret: base64 after `whsec_`, or the bytes of the text.
    ///
    /// # Errors
    /// The fault of the secret, such as "has fewer than 16 bytes".
    pub fn parse(secret: &str) -> Result<Self, &'static str> {
        let bytes = match secret.strip_prefix(PREFIX) {
            Some(text) => STANDARD.decode(text).map_err(|_| "is not base64 after `whsec_`")?,
            None => secret.as_bytes().to_vec(),
        };
        if bytes.len() < BYTES_MIN {
            return Err("has fewer than 16 bytes");
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The signature of a call.
    #[must_use]
    pub fn sign(&self, id: &str, unix_s: i64, body: &str) -> String {
        let signed = hmac::sign(&self.0, format!("{id}.{unix_s}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(signed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The case of the specification's libraries (`standard_webhooks.json`).
    #[test]
    fn a_signature_is_that_of_the_specifications_libraries() {
        let key = WebhookKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed =
            key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_neither_short_nor_broken() {
        for good in ["0123456789abcdef", &"k".repeat(65)] {
            assert!(WebhookKey::parse(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("", "has fewer than 16 bytes"),
            ("0123456789abcde", "has fewer than 16 bytes"),
            ("whsec_c2hvcnQ=", "has fewer than 16 bytes"),
            ("whsec_ähm", "is not base64 after `whsec_`"),
        ] {
            assert_eq!(WebhookKey::parse(bad).err(), Some(why), "{bad}");
        }
    }
}
