//! What a stream reads of an inbox. INTERIM: until the engine has it.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use tidings_core::Id;
use tidings_core::engine::{InboxGroup, Stop};
use tidings_node::Durable;

#[derive(Debug, Default)]
pub(super) struct InboxRows {
    pub(super) rev: u64,
    pub(super) unseen: u64,
    pub(super) unread: u64,
    pub(super) categories: Vec<CategoryCounts>,
    pub(super) rows: Vec<InboxRow>,
}

#[derive(Debug)]
pub(super) struct CategoryCounts {
    pub(super) name: String,
    pub(super) unseen: u64,
    pub(super) unread: u64,
}

#[derive(Debug)]
pub(super) struct InboxRow {
    pub(super) key: String,
    pub(super) fingerprint: u64,
}

fn all(node: &Durable, id: &Id) -> Result<(InboxRows, Vec<InboxGroup>), Stop> {
    let reader = node.engine().reader(node.view());
    let (mut from, mut groups, mut rows) = (None, Vec::new(), InboxRows::default());
    loop {
        let page = reader.inbox(id, from, 100)?;
        (rows.rev, rows.unseen, rows.unread) = (page.rev, page.unseen, page.unread);
        groups.extend(page.groups);
        let Some(next) = page.next else { break };
        from = Some(next);
    }
    let row = |group: &InboxGroup| {
        let mut hasher = DefaultHasher::new();
        (group.count, group.seen, group.read, group.newest_at).hash(&mut hasher);
        for item in &group.items {
            (item.event.as_str(), item.seen, item.read).hash(&mut hasher);
        }
        InboxRow { key: group.key.clone(), fingerprint: hasher.finish() }
    };
    rows.rows = groups.iter().map(row).collect();
    Ok((rows, groups))
}

pub(super) fn inbox_rows(node: &Durable, id: &Id) -> Result<InboxRows, Stop> {
    all(node, id).map(|(rows, _)| rows)
}

pub(super) fn inbox_groups(
    node: &Durable,
    id: &Id,
    keys: &[String],
) -> Result<Vec<InboxGroup>, Stop> {
    let (_, groups) = all(node, id)?;
    Ok(groups.into_iter().filter(|group| keys.contains(&group.key)).collect())
}
