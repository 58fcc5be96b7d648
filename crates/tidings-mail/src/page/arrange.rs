//! The arrangement of a block: cards in columns where most items have pictures, else rows below each other.

use tidings_core::model::Pivot;

use crate::page::block::BlockView;
use crate::page::columns;
use crate::page::item::{Frame, MailItem};
use crate::page::single::PersonPicture;

/// The place of the picture of a card.
pub(crate) const CARD: Frame = Frame { width: 270, height_max: 540 };

/// Number of characters of a line of a card, and the height of its lines in pixels.
const CARD_LINE_CHARS: usize = 32;
const LINE_HEIGHT: u32 = 22;

/// Leaves room beside rows without a face where others of their block, or its heading, have one.
pub(crate) fn align(block: &mut BlockView) {
    let has_picture = block.items.iter().any(|item| item.image.is_some());
    block.face.take_if(|_| has_picture || block.pivot != Some(Pivot::Actor));
    let has_face = |item: &MailItem| item.face.is_some() && item.image.is_none();
    let is_aligned = block.face.is_some() || block.items.iter().any(has_face);
    if !block.columns.is_empty() || !is_aligned {
        return;
    }
    for item in block.items.iter_mut().filter(|item| item.image.is_none()) {
        item.face.get_or_insert_with(PersonPicture::blank);
    }
}

/// Makes cards of the items of a block where most have pictures.
pub(crate) fn arrange(block: &mut BlockView) {
    let pictures = block.items.iter().filter(|item| item.image.is_some()).count();
    if pictures < 2 || pictures * 2 < block.items.len() {
        return;
    }
    for item in &mut block.items {
        if let Some(image) = &mut item.image {
            image.put_into(CARD);
        }
        item.block.make_card();
    }
    block.columns = columns::columns(block.items.iter().map(card_height)).to_vec();
}

/// About how high a card is, in pixels.
fn card_height(item: &MailItem) -> u32 {
    let lines =
        |text: &str| u32::try_from(text.chars().count().div_ceil(CARD_LINE_CHARS)).unwrap_or(0);
    let said: String = item.sentence.iter().map(|part| part.text.as_str()).collect();
    let title = if said.is_empty() { &item.title } else { &said };
    let said: u32 = item.lines.iter().map(|line| lines(line)).sum();
    let words = lines(title) + lines(&item.about) + said;
    item.image.as_ref().map_or(0, |image| image.height) + words * LINE_HEIGHT
}
