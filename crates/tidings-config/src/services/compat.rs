//! The section `[compat]`: the calls of other products that are taken.

use tidings_core::rules::CompatCallRules;

use crate::walk::{ConfigReader, Section};

pub(crate) fn compat(walk: &mut ConfigReader, root: &Section<'_>) -> CompatCallRules {
    let Some(section) = walk.section(root, "compat", "write `[compat]`") else {
        return CompatCallRules::default();
    };
    walk.only(&section, &["knock", "novu"]);
    CompatCallRules {
        knock: walk.flag(&section, "knock").unwrap_or(false),
        novu: walk.flag(&section, "novu").unwrap_or(false),
    }
}
