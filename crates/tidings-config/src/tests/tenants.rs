//! Tests of `[tenants]`.

use tidings_core::rules::{TenantRules, UnknownTenant};

use super::{refused, rules};

#[test]
fn t42_there_are_no_tenants_unless_it_says_so() {
    assert_eq!(rules("").tenants, None);
    assert_eq!(rules("[tenants]").tenants, None);
    assert_eq!(rules("[tenants]\non = false\nunknown = 'make'").tenants, None);
    let refuses = Some(TenantRules { unknown: UnknownTenant::Refuse });
    assert_eq!(rules("[tenants]\non = true").tenants, refuses);
    assert_eq!(rules("[tenants]\non = true\nunknown = 'refuse'").tenants, refuses);
    let makes = Some(TenantRules { unknown: UnknownTenant::Make });
    assert_eq!(rules("[tenants]\non = true\nunknown = 'make'").tenants, makes);
}

#[test]
fn t42_each_fault_of_tenants_has_its_place() {
    refused("[tenants]\non = 'yes'", "true or false");
    refused("[tenants]\non = true\nunknown = 'maek'", "maek");
    refused("[tenants]\non = true\nunknwon = 'make'", "unknown key");
    refused("tenants = true", "a table");
}
