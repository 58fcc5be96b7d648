//! Networks of IP addresses: whose headers count.

use serde::{Deserialize, Serialize};

/// The bits of an address of IPv6.
const BITS: u8 = 128;

/// A network of addresses of IPv6; those of IPv4 are the ones that they are mapped to (RFC 4291, section 2.5.5.2), so that
/// a peer of IPv4 is the same on every socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    first: [u8; 16],
    bits: u8,
}

impl Network {
    /// The network of an address, whose first bits all its addresses have; `None` = there are no so many.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::rules::Network;
    ///
    /// let mapped = |last| [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, last];
    /// let network = Network::of(mapped(7), 96 + 30).unwrap();
    /// assert_eq!(network.first(), mapped(4));
    /// assert!(network.contains(mapped(6)) && !network.contains(mapped(8)));
    /// ```
    #[must_use]
    pub fn of(address: [u8; 16], bits: u8) -> Option<Self> {
        (bits <= BITS).then(|| Self { first: masked(address, bits), bits })
    }

    /// Its first address.
    #[must_use]
    pub fn first(&self) -> [u8; 16] {
        self.first
    }

    /// Number of bits that all its addresses have.
    #[must_use]
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// Returns true if an address is in it.
    #[must_use]
    pub fn contains(&self, address: [u8; 16]) -> bool {
        masked(address, self.bits) == self.first
    }
}

/// The first bits of an address, with zeros behind them.
fn masked(address: [u8; 16], bits: u8) -> [u8; 16] {
    let kept = u128::MAX.checked_shl(u32::from(BITS - bits.min(BITS))).unwrap_or(0);
    (u128::from_be_bytes(address) & kept).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_the_addresses_with_its_first_bits() {
        let address = |last: u8| {
            let mut address = [0; 16];
            (address[0], address[15]) = (0x20, last);
            address
        };
        let one = Network::of(address(7), 128).unwrap();
        assert!(one.contains(address(7)) && !one.contains(address(6)));
        let all = Network::of(address(7), 0).unwrap();
        assert_eq!(all.first(), [0; 16]);
        assert!(all.contains([255; 16]) && all.contains([0; 16]));
        assert_eq!(Network::of(address(7), 129), None);
    }
}
