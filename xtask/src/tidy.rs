//! The rules of the house that no compiler checks. Every fault is reported at once.

mod crates;
mod floors;
mod metrics;
mod names;
pub(crate) mod pages;
mod profiles;
mod pure;
mod rooms;
mod sources;
mod surface;

use std::path::Path;

use crate::Failure;

/// Checks every rule.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let mut faults = crates::check(root)?;
    faults.extend(floors::check(root)?);
    faults.extend(sources::check(root)?);
    faults.extend(metrics::check(root)?);
    faults.extend(names::check(root)?);
    faults.extend(pages::check(root)?);
    faults.extend(profiles::check(root)?);
    faults.extend(pure::check(root)?);
    faults.extend(rooms::check(root)?);
    faults.extend(surface::check(root)?);
    if faults.is_empty() {
        println!("tidy");
        return Ok(());
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    Err(format!("{} thing(s) to put in order", faults.len()))
}
