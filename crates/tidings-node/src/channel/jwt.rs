//! JSON Web Tokens (RFC 7519), by which providers know who calls.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::Value;

/// A key that signs tokens.
pub(super) trait TokenSigner {
    /// The signature of some bytes; none where the system has no random numbers.
    fn signature(&self, random: &SystemRandom, bytes: &[u8]) -> Option<Vec<u8>>;
}

/// `ES256`.
impl TokenSigner for EcdsaKeyPair {
    fn signature(&self, random: &SystemRandom, bytes: &[u8]) -> Option<Vec<u8>> {
        let signature = self.sign(random, bytes).ok()?;
        Some(signature.as_ref().to_vec())
    }
}

/// `RS256`.
impl TokenSigner for RsaKeyPair {
    fn signature(&self, random: &SystemRandom, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut signature = vec![0; self.public().modulus_len()];
        self.sign(&RSA_PKCS1_SHA256, random, bytes, &mut signature).ok()?;
        Some(signature)
    }
}

/// A token of a header and claims.
pub(super) fn jwt(
    header: &Value,
    claims: &Value,
    key: &impl TokenSigner,
    random: &SystemRandom,
) -> Option<String> {
    let [header, claims] = [header, claims].map(|json| URL_SAFE_NO_PAD.encode(json.to_string()));
    let signed = format!("{header}.{claims}");
    let signature = key.signature(random, signed.as_bytes())?;
    Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
