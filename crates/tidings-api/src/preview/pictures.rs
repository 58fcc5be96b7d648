//! Pictures of sample messages, drawn in their place: the addresses that samples have lead nowhere.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use tidings_mail::SAMPLE_PICTURES;

/// The end of the address of a picture.
const END: &str = ".jpg";

/// The characters that stand for themselves neither in an address nor in an attribute.
const ENCODED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'<').add(b'>').add(b'\'');

/// HTML with drawings in place of the pictures of samples.
pub(super) fn drawn(html: &str) -> String {
    let mut parts = html.split(SAMPLE_PICTURES);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number =
            part.split_once(END).and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
        match number {
            Some((number, rest)) => {
                out += &drawing(number);
                out += rest;
            }
            None => {
                out += SAMPLE_PICTURES;
                out += part;
            }
        }
    }
    out
}

/// A drawing as an address: hills below a sun, in colours of their own for each number.
fn drawing(number: usize) -> String {
    let hue = number * 67 % 360;
    let (width, height) = tidings_mail::sample_size(number);
    let (sun, near, far) = ((hue + 40) % 360, (hue + 200) % 360, (hue + 170) % 360);
    let at = 25 + number * 17 % 50;
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 100 100' preserveAspectRatio='none'>"
    );
    // Writing to a text can't fail.
    let _ = write!(
        svg,
        "<rect width='100' height='100' fill='hsl({hue},45%,82%)'/>\
         <circle cx='{at}' cy='32' r='11' fill='hsl({sun},75%,70%)'/>\
         <path d='M0 70Q25 45 50 64T100 55V100H0Z' fill='hsl({far},32%,62%)'/>\
         <path d='M0 84Q30 62 60 80T100 74V100H0Z' fill='hsl({near},34%,44%)'/></svg>"
    );
    format!("data:image/svg+xml,{}", utf8_percent_encode(&svg, ENCODED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_samples_are_drawn_and_other_addresses_stay() {
        let html = "<img src=\"https://example.org/1.jpg\"><a href=\"https://example.org/1\">";
        let drawn = drawn(html);
        assert!(drawn.starts_with("<img src=\"data:image/svg+xml,%3Csvg"), "{drawn}");
        assert!(drawn.ends_with("\"><a href=\"https://example.org/1\">"), "{drawn}");
        assert_ne!(drawing(0), drawing(1));
    }
}
