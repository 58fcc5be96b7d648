//! Grouping: entries are gathered into lines, and lines into groups.
//!
//! A line is an object, with any number of entries. A group reads as one sentence: "5 works by one artist", "A, B and 3
//! others commented on X".

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::content::batch::{EventData, Group, Line, common_data};
use crate::index::headers::Header;
use crate::model::event::host_text::HostText;
use crate::model::event::{Object, Pivot, Score};
use crate::model::id::Id;
use crate::model::time::Instant;
use crate::rules::Rules;

/// An entry of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The event's header.
    pub header: Header,
    /// Time of entering the lane.
    pub t: Instant,
    /// The reasons why this recipient was notified.
    pub reasons: Arc<[String]>,
    /// The object as it is now.
    pub object: Arc<Object>,
    /// The actor as it is now.
    pub actor: Option<Arc<Object>>,
    /// The target as it is now.
    pub target: Option<Arc<Object>>,
    /// The event's `data`.
    pub data: Option<Arc<EventData>>,
    /// The event's `body`.
    pub body: Option<HostText>,
}

/// Groups the entries of a message; their order does not matter.
///
/// Equal objects make one line, whatever their types (contract, section 2); it belongs to the type
/// that told it first. The lines of a type are grouped by the role that its rules name, else by the
/// one that makes the fewest groups; of equals by object before actor before target. A line that
/// lacks the role stands alone; so does, among actors, one that has several of them or an entry without one. Types of a
/// category that are grouped by target have one group for each target, which a single line of another type joins. Lines
/// and groups are in the order of their highest score, then the newest first; what entered at one instant stays in the
/// order of its arrival.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use tidings_core::{Id, Instant, Object, Rules};
/// use tidings_core::content::{Entry, group};
/// use tidings_core::index::Header;
/// use tidings_core::model::EventNo;
///
/// let entry = |t: i64, actor: &str| {
///     let id = |text: &str| Id::new(text).unwrap();
///     let object = |text: &str| Arc::new(Object::bare(id(text)));
///     let header = Header {
///         place: EventNo(t.unsigned_abs()),
///         id: id(&format!("e{t}")),
///         event_type: id("comment"),
///         actor: Some(id(actor)),
///         object: id("work/7"),
///         target: None,
///         score: Default::default(),
///         occurred_at: None,
///         expires_at: None,
///     };
///     Entry {
///         header,
///         t: Instant(t),
///         reasons: ["topic:work/7".to_owned()].into(),
///         object: object("work/7"),
///         actor: Some(object(actor)),
///         target: None,
///         data: None,
///         body: None,
///     }
/// };
/// // "Grace and Ada commented on work/7": one line, and who came last is named first.
/// let entries = [entry(1, "grace"), entry(2, "ada"), entry(3, "grace")];
/// let groups = group(entries.iter().collect(), &Rules::default());
/// let line = &groups[0].lines[0];
/// assert_eq!((groups.len(), groups[0].lines.len(), line.entries), (1, 1, 3));
/// let actors: Vec<&str> = line.actors.iter().map(|actor| actor.id.as_str()).collect();
/// assert_eq!(actors, ["grace", "ada"]);
/// ```
#[must_use]
pub fn group(mut entries: Vec<&Entry>, rules: &Rules) -> Vec<Group> {
    entries.sort_by_key(|entry| (entry.t, entry.header.place));
    let mut lines = lines(&entries);
    lines.sort_unstable_by_key(LineWithIndexes::rank);
    for (order, gathered) in lines.iter_mut().enumerate() {
        gathered.line.order = order;
    }
    let mut of_kind: Vec<Vec<LineWithIndexes<'_>>> = Vec::new();
    for gathered in lines {
        let event_type = &gathered.line.types[0];
        let mut known = of_kind.iter_mut().filter(|lines| lines[0].line.types[0] == *event_type);
        match known.next() {
            Some(lines) => lines.push(gathered),
            None => of_kind.push(vec![gathered]),
        }
    }
    let all = of_kind.into_iter().flat_map(|lines| groups_of_kind(lines, rules));
    let (alone, others): (Vec<_>, Vec<_>) = all.partition(|ranked| ranked.stands_alone(rules));
    let mut groups = Vec::new();
    let mut of_target = FxHashMap::default();
    for ranked in others {
        add(&mut groups, &mut of_target, ranked);
    }
    for mut ranked in alone {
        let target = ranked.group.lines.first().and_then(|line| line.target.clone());
        let target = target.filter(|target| of_target.contains_key(&ranked.group.about(target)));
        if target.is_some() {
            (ranked.group.pivot, ranked.group.key) = (Pivot::Target, target);
        }
        add(&mut groups, &mut of_target, ranked);
    }
    groups.sort_unstable_by_key(|ranked| ranked.rank);
    groups.into_iter().map(RankedGroup::finished).collect()
}

/// The place of a line or a group in a message: the least is shown first.
type DisplayRank = (Reverse<Score>, Reverse<Instant>, usize);

/// A group with the rank of its first line.
struct RankedGroup<'e> {
    rank: DisplayRank,
    group: Group,
    /// The actors of its lines, in any order; an actor may repeat.
    acts: Vec<(usize, &'e Arc<Object>)>,
}

impl RankedGroup<'_> {
    /// Returns true if nothing says by what its only line is grouped.
    fn stands_alone(&self, rules: &Rules) -> bool {
        let Group { event_type, pivot, lines, .. } = &self.group;
        let of_type = rules.types.get(event_type.as_str());
        let is_said = of_type.is_some_and(|rules| rules.group.is_some());
        *pivot != Pivot::Target && lines.len() == 1 && !is_said
    }

    fn finished(mut self) -> Group {
        self.group.actors = newest_first(&mut self.acts);
        self.group
    }
}

impl Group {
    /// The category and target that types share a group by.
    fn about(&self, target: &Object) -> (String, Id) {
        (self.category.clone(), target.id.clone())
    }
}

/// Adds a group, or its lines to the group of the same category and target: who mentions a reader and who comments talk
/// about one thing.
fn add<'e>(
    groups: &mut Vec<RankedGroup<'e>>,
    of_target: &mut FxHashMap<(String, Id), usize>,
    ranked: RankedGroup<'e>,
) {
    let RankedGroup { rank, group, acts } = ranked;
    if let Some(key) = group.key.as_ref().filter(|_| group.pivot == Pivot::Target) {
        let at = *of_target.entry(group.about(key)).or_insert(groups.len());
        if let Some(known) = groups.get_mut(at) {
            if rank < known.rank {
                known.rank = rank;
                known.group.event_type = group.event_type;
            }
            known.group.lines.extend(group.lines);
            known.group.lines.sort_unstable_by_key(|line| line.order);
            known.acts.extend(acts);
            return;
        }
    }
    groups.push(RankedGroup { rank, group, acts });
}

/// A line with the positions of its entries among all entries.
struct LineWithIndexes<'e> {
    line: Line,
    /// Highest score of its entries.
    score: Score,
    /// Position of its newest entry.
    newest: usize,
    /// The actors, in the order of entries; an actor may repeat.
    acts: Vec<(usize, &'e Arc<Object>)>,
    /// The reasons of its entries, where they differ from those of the first.
    reasons: Vec<&'e [String]>,
}

impl LineWithIndexes<'_> {
    fn rank(&self) -> DisplayRank {
        (Reverse(self.score), Reverse(self.line.t), self.newest)
    }
}

/// One line for each object. Entries come oldest first.
fn lines<'e>(entries: &[&'e Entry]) -> Vec<LineWithIndexes<'e>> {
    let mut of_object: FxHashMap<&str, usize> = FxHashMap::default();
    of_object.reserve(entries.len());
    let mut lines: Vec<LineWithIndexes<'e>> = Vec::with_capacity(entries.len());
    for (position, entry) in entries.iter().enumerate() {
        let header = &entry.header;
        let next = lines.len();
        let index = *of_object.entry(header.object.as_str()).or_insert(next);
        if index == next {
            lines.push(LineWithIndexes {
                line: first_line(entry),
                score: header.score,
                newest: position,
                acts: Vec::new(),
                reasons: Vec::new(),
            });
        } else {
            lines[index].add(entry, position);
        }
        let acts = &mut lines[index].acts;
        acts.extend(entry.actor.as_ref().map(|actor| (position, actor)));
    }
    for gathered in &mut lines {
        let LineWithIndexes { line, acts, .. } = gathered;
        line.actors = newest_first(acts);
        if !gathered.reasons.is_empty() {
            let all: BTreeSet<&String> =
                gathered.reasons.iter().copied().chain([&*line.reasons]).flatten().collect();
            line.reasons = all.into_iter().cloned().collect();
        }
    }
    lines
}

/// The line of the first entry about an object, without its actors.
fn first_line(entry: &Entry) -> Line {
    Line {
        object: Arc::clone(&entry.object),
        types: vec![entry.header.event_type.clone()],
        actors: Vec::new(),
        lacks_actor: entry.actor.is_none(),
        target: entry.target.clone(),
        reasons: Arc::clone(&entry.reasons),
        t: entry.t,
        data: entry.data.clone(),
        body: entry.body.clone(),
        entries: 1,
        order: 0,
    }
}

impl<'e> LineWithIndexes<'e> {
    /// Adds a newer entry about the same object.
    fn add(&mut self, entry: &'e Entry, position: usize) {
        let Self { line, score, .. } = self;
        *score = entry.header.score.max(*score);
        self.newest = position;
        if !line.types.contains(&entry.header.event_type) {
            line.types.push(entry.header.event_type.clone());
        }
        line.object = Arc::clone(&entry.object);
        line.lacks_actor |= entry.actor.is_none();
        line.target.take_if(|target| {
            let other = entry.target.as_ref();
            other.is_none_or(|other| other.id != target.id)
        });
        if line.reasons != entry.reasons {
            self.reasons.push(&entry.reasons);
        }
        line.body.take_if(|body| entry.body.as_ref() != Some(body));
        line.t = entry.t;
        line.data = common_data(line.data.take(), entry.data.as_ref());
        line.entries += 1;
    }
}

/// The actors of some acts, each once, by their latest act.
fn newest_first(acts: &mut [(usize, &Arc<Object>)]) -> Vec<Arc<Object>> {
    if let [(_, alone)] = acts {
        return vec![Arc::clone(alone)];
    }
    acts.sort_unstable_by_key(|(position, _)| Reverse(*position));
    let mut seen = FxHashSet::default();
    acts.iter()
        .filter(|(_, actor)| seen.insert(&actor.id))
        .map(|(_, actor)| Arc::clone(actor))
        .collect()
}

/// The groups of one type's lines. Lines come by rank.
fn groups_of_kind<'e>(lines: Vec<LineWithIndexes<'e>>, rules: &Rules) -> Vec<RankedGroup<'e>> {
    let Some(event_type) = lines.first().map(|first| first.line.types[0].clone()) else {
        return Vec::new();
    };
    let type_rules = rules.types.get(event_type.as_str());
    let pivot = type_rules.and_then(|rules| rules.group).unwrap_or_else(|| fewest(&lines));
    let category = type_rules.map_or("", |rules| rules.category.as_str());
    let mut of_key: FxHashMap<Id, usize> = FxHashMap::default();
    let mut groups: Vec<RankedGroup<'e>> = Vec::new();
    for gathered in lines {
        let rank = gathered.rank();
        let LineWithIndexes { line, acts, .. } = gathered;
        let key = role(&line, pivot).cloned();
        let known = key.as_ref().and_then(|key| of_key.get(&key.id).copied());
        if let Some(index) = known {
            groups[index].group.lines.push(line);
            groups[index].acts.extend(acts);
            continue;
        }
        if let Some(key) = &key {
            of_key.insert(key.id.clone(), groups.len());
        }
        let group = Group {
            event_type: event_type.clone(),
            category: category.to_owned(),
            pivot,
            key,
            actors: Vec::new(),
            lines: vec![line],
        };
        groups.push(RankedGroup { rank, group, acts });
    }
    groups
}

/// The role with the fewest groups; a role that every line lacks doesn't count.
fn fewest(lines: &[LineWithIndexes<'_>]) -> Pivot {
    let groups = |pivot| {
        let roles: Vec<&Id> = lines
            .iter()
            .filter_map(|gathered| role(&gathered.line, pivot))
            .map(|role| &role.id)
            .collect();
        let alone = lines.len() - roles.len();
        let distinct = roles.into_iter().collect::<FxHashSet<_>>().len();
        (distinct > 0).then_some(distinct + alone)
    };
    [Pivot::Object, Pivot::Actor, Pivot::Target]
        .into_iter()
        .filter_map(|pivot| Some((groups(pivot)?, pivot)))
        .min()
        .map_or(Pivot::Object, |(_, pivot)| pivot)
}

/// The object of a line in a role, if there is exactly one.
fn role(line: &Line, pivot: Pivot) -> Option<&Arc<Object>> {
    match pivot {
        Pivot::Object => Some(&line.object),
        Pivot::Actor => match &line.actors[..] {
            [actor] if !line.lacks_actor => Some(actor),
            _ => None,
        },
        Pivot::Target => line.target.as_ref(),
    }
}

#[cfg(test)]
mod tests;
