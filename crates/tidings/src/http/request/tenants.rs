//! The tenants of tokens, as the node has them.

use tidings_core::Id;
use tidings_core::engine::TenantDirectory;
use tidings_core::tenant::TenantNo;
use tidings_node::Handle;

/// The number of the tenant of a token that was issued in this second, if it is there and can be read now.
pub(in crate::http) fn of_token(handle: &Handle, id: &Id, issued_s: i64) -> Option<TenantNo> {
    let found = handle.look(|node| TenantDirectory::of(node.engine()).of_token(id, issued_s));
    found.ok().flatten()
}

/// The id of a tenant, if it is there and can be read now.
pub(in crate::http) fn id(handle: &Handle, number: TenantNo) -> Option<Id> {
    let found = handle.look(|node| TenantDirectory::of(node.engine()).id(number).cloned());
    found.ok().flatten()
}
