//! Selection of the lines of a mail if there are too many.

/// The number of lines shown of each group, at most `shown_max` in all.
///
/// Every group is given a few before any is given all, so that one busy group does not hide the
/// others; what is left over goes to the groups in their order.
pub(crate) fn lines_shown(lens: &[usize], shown_max: usize) -> Vec<usize> {
    const FIRST: usize = 5;
    let mut left = shown_max;
    let mut shown: Vec<usize> = Vec::with_capacity(lens.len());
    for len in lens {
        let count = (*len).min(FIRST).min(left);
        left -= count;
        shown.push(count);
    }
    for (count, len) in shown.iter_mut().zip(lens) {
        let more = (len - *count).min(left);
        left -= more;
        *count += more;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_shown_where_there_is_room() {
        assert_eq!(lines_shown(&[1, 20, 29], 50), [1, 20, 29]);
    }

    #[test]
    fn a_busy_group_leaves_room_for_others() {
        assert_eq!(lines_shown(&[10_000, 3, 7], 50), [42, 3, 5]);
        assert_eq!(
            lines_shown(&[100; 12], 50),
            [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0]
        );
    }
}
