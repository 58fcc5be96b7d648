//! The section `[compat]`: the calls of other products that are taken.

use tidings_core::rules::CompatRules;

use super::walk::{Section, Walk};

pub(super) fn compat(walk: &mut Walk, root: &Section<'_>) -> CompatRules {
    let Some(section) = walk.section(root, "compat", "write `[compat]`") else {
        return CompatRules::default();
    };
    walk.only(&section, &["knock", "novu"]);
    CompatRules {
        knock: walk.flag(&section, "knock").unwrap_or(false),
        novu: walk.flag(&section, "novu").unwrap_or(false),
    }
}
