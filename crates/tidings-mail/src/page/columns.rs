//! Two columns of cards, as a wall of pictures is hung: the next one where there is most room.

/// The indices of cards by column: each card goes to the shorter column, of equals to the left one.
///
/// So the columns never differ by more than the tallest card.
pub(crate) fn columns(heights: impl IntoIterator<Item = u32>) -> [Vec<usize>; 2] {
    let mut columns = [Vec::new(), Vec::new()];
    let mut filled = [0_u64; 2];
    for (card, height) in heights.into_iter().enumerate() {
        let column = usize::from(filled[1] < filled[0]);
        columns[column].push(card);
        filled[column] += u64::from(height);
    }
    columns
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_card_goes_to_the_shorter_column_and_of_equals_to_the_left() {
        assert_eq!(columns([]), [Vec::<usize>::new(), Vec::new()]);
        assert_eq!(columns([3]), [vec![0], Vec::new()]);
        assert_eq!(columns([2, 2, 2, 2]), [vec![0, 2], vec![1, 3]]);
        assert_eq!(columns([5, 1, 1, 1, 3, 1]), [vec![0, 5], vec![1, 2, 3, 4]]);
    }

    proptest! {
        #[test]
        fn columns_differ_by_no_more_than_the_tallest_card(
            heights in prop::collection::vec(0_u32..2_000, 0..200),
        ) {
            let columns = columns(heights.iter().copied());
            let height = |column: &[usize]| column.iter().map(|card| heights[*card]).sum::<u32>();
            let difference = height(&columns[0]).abs_diff(height(&columns[1]));
            prop_assert!(difference <= heights.iter().copied().max().unwrap_or(0));
            let mut cards = columns.concat();
            cards.sort_unstable();
            prop_assert!(cards.into_iter().eq(0..heights.len()));
        }
    }
}
