//! Selection of the lines that a mail shows.
//!
//! All lines are delivered by the mail; those beyond its quota are counted. Each type has a few lines before the others
//! are chosen by their score, since the subject counts it.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Id;
use tidings_core::content::{Group, Line};
use tidings_core::model::Pivot;
use tidings_core::rules::{Quota, Share};

/// Number of lines that each type has before the others are chosen by their score.
const FLOOR: usize = 2;

/// The lines of each group that are shown, at most `most`, as far as no quota bars them: the first ones of each type,
/// type by type, and then the first ones in the message's order.
pub(crate) fn shown(groups: &[Group], quota: &Quota, most: usize) -> Vec<Vec<bool>> {
    let mut in_order: Vec<(usize, usize)> = groups
        .iter()
        .enumerate()
        .flat_map(|(group, of)| (0..of.lines.len()).map(move |line| (group, line)))
        .collect();
    in_order.sort_by_key(|(group, line)| groups[*group].lines[*line].order);
    let mut shown: Vec<Vec<bool>> =
        groups.iter().map(|group| vec![false; group.lines.len()]).collect();
    let mut counts: Vec<BTreeMap<&Id, usize>> = vec![BTreeMap::default(); quota.show_per.len()];
    let mut left = most.min(quota.show);
    let first = first_of_types(groups, &in_order);
    for (group, at) in first.into_iter().chain(in_order) {
        if left == 0 {
            break;
        }
        if shown[group][at] {
            continue;
        }
        let line = &groups[group].lines[at];
        let is_full = quota.show_per.iter().zip(&counts).any(|((share, most), counts)| {
            shared(line, *share).any(|id| counts.get(id).is_some_and(|count| count >= most))
        });
        if is_full {
            continue;
        }
        for ((share, _), counts) in quota.show_per.iter().zip(&mut counts) {
            for id in shared(line, *share) {
                *counts.entry(id).or_default() += 1;
            }
        }
        shown[group][at] = true;
        left -= 1;
    }
    shown
}

/// The first line of each type in the order of the groups, then the second ones, and so on up to the floor.
fn first_of_types(groups: &[Group], in_order: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut types: Vec<&Id> = Vec::new();
    let mut seen: BTreeSet<&Id> = BTreeSet::new();
    for line in groups.iter().flat_map(|group| &group.lines) {
        types.extend(line.types.iter().filter(|event_type| seen.insert(event_type)));
    }
    let of_type = |event_type: &Id| {
        let is_of =
            |(group, at): &&(usize, usize)| groups[*group].lines[*at].types.contains(event_type);
        in_order.iter().filter(is_of).take(FLOOR).copied().collect::<Vec<_>>()
    };
    if types.len() < 2 {
        return Vec::new();
    }
    let of_types: Vec<Vec<(usize, usize)>> = types.into_iter().map(of_type).collect();
    let nth = |n: usize| of_types.iter().filter_map(move |lines| lines.get(n).copied());
    (0..FLOOR).flat_map(nth).collect()
}

/// The ids by which a line counts.
fn shared(line: &Line, share: Share) -> Box<dyn Iterator<Item = &Id> + '_> {
    match share {
        Share::Type => Box::new(line.types.iter()),
        Share::Role(Pivot::Actor) => Box::new(line.actors.iter().map(|actor| &actor.id)),
        Share::Role(Pivot::Object) => Box::new(std::iter::once(&line.object.id)),
        Share::Role(Pivot::Target) => Box::new(line.target.iter().map(|target| &target.id)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tidings_core::{Instant, Object};

    use super::*;

    /// Lines `order actor`, all in one group.
    fn group(lines: &[(usize, &str)]) -> Group {
        let id = |text: &str| Id::new(text).unwrap();
        let line = |(order, actor): &(usize, &str)| Line {
            object: Arc::new(Object::bare(id(&format!("o{order}")))),
            types: vec![id("work")],
            actors: vec![Arc::new(Object::bare(id(actor)))],
            lacks_actor: false,
            target: None,
            reasons: [].into(),
            t: Instant(0),
            data: None,
            entries: 1,
            order: *order,
            body: None,
        };
        Group {
            event_type: id("work"),
            category: String::new(),
            pivot: Pivot::Object,
            key: None,
            actors: Vec::new(),
            lines: lines.iter().map(line).collect(),
        }
    }

    fn shown_of(groups: &[Group], quota: &Quota) -> Vec<usize> {
        let shown = shown(groups, quota, usize::MAX);
        let mut orders: Vec<usize> = groups
            .iter()
            .zip(&shown)
            .flat_map(|(group, shown)| group.lines.iter().zip(shown))
            .filter(|(_, shown)| **shown)
            .map(|(line, _)| line.order)
            .collect();
        orders.sort_unstable();
        orders
    }

    #[test]
    fn the_first_ones_are_shown_whatever_their_group() {
        let groups =
            [group(&[(0, "a"), (3, "a"), (4, "a")]), group(&[(1, "b"), (2, "b"), (5, "b")])];
        let quota = |show| Quota { show, show_per: Vec::new() };
        assert_eq!(shown_of(&groups, &quota(3)), [0, 1, 2]);
        assert_eq!(shown_of(&groups, &quota(9)), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn nobody_takes_more_than_a_share() {
        let groups = [group(&[(0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "c")])];
        let quota = |show_per: &[(Share, usize)]| Quota { show: 3, show_per: show_per.to_vec() };
        let actor = (Share::Role(Pivot::Actor), 1);
        assert_eq!(shown_of(&groups, &quota(&[actor])), [0, 3, 4]);
        assert_eq!(shown_of(&groups, &quota(&[actor, (Share::Type, 2)])), [0, 3]);
        // Where there is nothing to share there is no bound.
        let target = (Share::Role(Pivot::Target), 1);
        assert_eq!(shown_of(&groups, &quota(&[target])), [0, 1, 2]);
    }
}
