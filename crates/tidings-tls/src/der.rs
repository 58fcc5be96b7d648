//! The little of DER (X.690) that no library in use reads of a certificate: its signature's algorithm and the common
//! name of its subject.

/// An element with its tag and content, and what follows it.
struct DerElement<'a> {
    tag: u8,
    content: &'a [u8],
    rest: &'a [u8],
}

const SEQUENCE: u8 = 0x30;
const OBJECT_ID: u8 = 0x06;
/// 2.5.4.3.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

fn element(bytes: &[u8]) -> Option<DerElement<'_>> {
    let (tag, after) = bytes.split_first()?;
    let (first, after) = after.split_first()?;
    let (length, after) = match usize::from(*first) {
        short @ 0..=0x7f => (short, after),
        long => {
            let (digits, after) = after.split_at_checked(long - 0x80).filter(|_| long <= 0x84)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), after)
        }
    };
    let (content, rest) = after.split_at_checked(length)?;
    Some(DerElement { tag: *tag, content, rest })
}

fn expect(tag: u8, bytes: &[u8]) -> Option<DerElement<'_>> {
    element(bytes).filter(|found| found.tag == tag)
}

/// The object identifier of the algorithm by which a certificate is signed, without its tag.
#[cfg(feature = "postgres")]
pub(crate) fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let whole = expect(SEQUENCE, certificate)?;
    let body = expect(SEQUENCE, whole.content)?;
    let algorithm = expect(SEQUENCE, body.rest)?;
    expect(OBJECT_ID, algorithm.content).map(|id| id.content)
}

/// The common name in a subject, whose outer tag is left out.
pub(crate) fn common_name(subject: &[u8]) -> Option<&str> {
    let mut left = subject;
    while let Some(set) = element(left) {
        left = set.rest;
        let attribute = expect(SEQUENCE, set.content)?;
        let name = expect(OBJECT_ID, attribute.content)?;
        if name.content == COMMON_NAME {
            return str::from_utf8(element(name.rest)?.content).ok();
        }
    }
    None
}
