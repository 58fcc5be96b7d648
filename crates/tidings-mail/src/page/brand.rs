//! The brand as templates see it: checked addresses, and colours that can be read on light and on dark.

use serde::Serialize;
use tidings_core::rules::Brand;

use crate::words::text;
use crate::{Sender, link};

/// The background of mails by night.
const NIGHT: Colour = Colour([0x16, 0x16, 0x18]);
const DAY: Colour = Colour([0xff, 0xff, 0xff]);
const INK: Colour = Colour([0x1c, 0x1c, 0x1e]);
/// Links of a brand without a colour.
const BLUE: Colour = Colour([0x0b, 0x57, 0xa4]);
/// The contrast of text that everybody can read (WCAG 2.2, 1.4.3).
const CONTRAST: f64 = 4.5;

/// The brand of a mail.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct BrandView {
    pub(crate) name: String,
    pub(crate) logo: Option<String>,
    /// The logo on a dark ground.
    pub(crate) logo_dark: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) footer: Option<String>,
    pub(crate) postal_address: Option<String>,
    /// The background of buttons.
    pub(crate) color: String,
    /// Text on that background.
    pub(crate) on_color: String,
    /// Links by day.
    pub(crate) link: String,
    /// Links and the background of buttons by night.
    pub(crate) link_dark: String,
}

impl BrandView {
    pub(crate) fn of(brand: &Brand, sender: &Sender) -> Self {
        let shown = |text: &Option<String>| {
            let text = text.as_deref().map(text::clean);
            text.filter(|text| !text.is_empty())
        };
        let color = brand.color.as_deref().and_then(Colour::parse);
        let link = color.unwrap_or(BLUE);
        let button = color.unwrap_or(INK);
        let on_button = if button.contrast(DAY) >= button.contrast(INK) { DAY } else { INK };
        Self {
            name: shown(&brand.name).unwrap_or_else(|| sender.name().to_owned()),
            logo: brand.logo.as_deref().and_then(link::picture),
            logo_dark: brand.logo_dark.as_deref().and_then(link::picture),
            url: brand.url.as_deref().and_then(link::web),
            footer: shown(&brand.footer),
            postal_address: shown(&brand.postal_address),
            color: button.hex(),
            on_color: on_button.hex(),
            link: link.readable(DAY, INK).hex(),
            link_dark: link.readable(NIGHT, DAY).hex(),
        }
    }
}

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour([u8; 3]);

impl Colour {
    /// Reads `#rgb` or `#rrggbb`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .strip_prefix('#')?
            .chars()
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()?;
        match digits[..] {
            [r, g, b] => Some(Self([r * 17, g * 17, b * 17])),
            [r, r2, g, g2, b, b2] => Some(Self([r * 16 + r2, g * 16 + g2, b * 16 + b2])),
            _ => None,
        }
    }

    fn hex(self) -> String {
        let [r, g, b] = self.0;
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// The relative luminance (WCAG 2.2).
    fn luminance(self) -> f64 {
        let [r, g, b] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { power_of_2_4((part + 0.055) / 1.055) }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The nearest colour towards another that can be read on a ground.
    fn readable(self, ground: Self, towards: Self) -> Self {
        let mixed = |tenths: u16| {
            let mut mixed = self;
            for (part, goal) in mixed.0.iter_mut().zip(towards.0) {
                let sum = u16::from(*part) * (10 - tenths) + u16::from(goal) * tenths;
                *part = u8::try_from(sum / 10).unwrap_or(u8::MAX);
            }
            mixed
        };
        (0..10).map(mixed).find(|mixed| mixed.contrast(ground) >= CONTRAST).unwrap_or(towards)
    }
}

/// The power of 2.4, by a fifth root after Newton: unlike `powf` the same on every machine.
fn power_of_2_4(base: f64) -> f64 {
    let square = base * base;
    let mut root = 1.0;
    for _ in 0..32 {
        root = (4.0 * root + square / (root * root * root * root)) / 5.0;
    }
    square * root
}

/// Returns true if a text is a colour: `#rgb` or `#rrggbb`.
#[must_use]
pub fn is_color(text: &str) -> bool {
    Colour::parse(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(color: &str) -> BrandView {
        let brand = Brand { color: Some(color.to_owned()), ..Brand::default() };
        BrandView::of(&brand, &Sender::parse("Art <art@example.org>").unwrap())
    }

    #[test]
    fn colours_are_read() {
        assert_eq!(Colour::parse("#Fa0"), Some(Colour([0xff, 0xaa, 0])));
        assert_eq!(Colour::parse("#0b57a4"), Some(BLUE));
        for text in ["", "#", "red", "0b57a4", "#12", "#12345", "#gggggg", "#+1+1+1"] {
            assert_eq!(Colour::parse(text), None, "{text}");
        }
    }

    #[test]
    fn contrasts_are_those_of_the_standard() {
        for (text, ground, contrast) in
            [("#767676", DAY, 4.54), ("#000", DAY, 21.0), ("#0f766e", NIGHT, 3.30)]
        {
            let found = Colour::parse(text).unwrap().contrast(ground);
            assert!((found - contrast).abs() < 0.01, "{text}: {found}");
        }
    }

    #[test]
    fn any_colour_can_be_read_by_day_and_by_night() {
        for color in ["#ffffff", "#000", "#ffe600", "#7a00ff", "#c0c0c0", "#123456"] {
            let view = view(color);
            let contrast =
                |text: &str, ground: Colour| Colour::parse(text).unwrap().contrast(ground);
            assert!(contrast(&view.link, DAY) >= CONTRAST, "{view:?}");
            assert!(contrast(&view.link_dark, NIGHT) >= CONTRAST, "{view:?}");
            let button = Colour::parse(&view.color).unwrap();
            assert!(contrast(&view.on_color, button) >= 4.0, "{view:?}");
        }
    }
}
