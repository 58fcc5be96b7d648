//! Now: is anybody waiting too long, and what is about to be sent.

use minijinja::context;
use minijinja::value::Serde;

use crate::call::Call;
use crate::console::Console;
use crate::page::{Page, Section};
use crate::problem::CallProblem;
use crate::viewer::Viewer;

pub(crate) async fn page(console: &Console, viewer: &Viewer) -> Result<Page, CallProblem> {
    let status = console.call(viewer, Call::get(&["admin", "status"])).await?;
    Ok(Page::new(Section::Now, "Now", "now.html").with(context! { status => Serde(&status) }))
}
