//! Lines of tenants and members, and lines that name a tenant.

use tidings_core::model::{BrandChange, TenantChange};
use tidings_core::rules::FormOfAddress;

use super::*;

fn changed(body: &str) -> TenantChange {
    let body = format!(r#""id":"acme",{body}"#);
    match read("tenant", &body) {
        Ok(Command::Tenant { tenant, change }) => {
            assert_eq!(tenant, id("acme"));
            assert!(!change.replaces);
            *change
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn t42_of_a_tenant_only_what_is_given_changes() {
    assert_eq!(
        changed(r#""name":null"#),
        TenantChange { name: Some(None), ..TenantChange::default() }
    );
    let change = changed(
        r##""name":"Acme","brand":{"name":"A","color":"#0b57a4","url":"https://a.example/","address":"formal","logo":null},
        "from_name":"Acme Inc","reply_to":"help@a.example","locale":"de","tz":"Europe/Paris",
        "quiet_hours":{"from":"22:00","to":"07:00"},"preferences":[{"type":"work","channel":"email","mode":"never"}],
        "data":{"plan":"gold"},"disabled":true"##,
    );
    let text = |text: &str| Some(Some(text.to_owned()));
    assert_eq!((change.name, change.from_name), (text("Acme"), text("Acme Inc")));
    assert_eq!((change.locale, change.tz), (text("de"), text("Europe/Paris")));
    assert_eq!(change.reply_to, text("help@a.example"));
    let brand = BrandChange {
        name: text("A"),
        color: text("#0b57a4"),
        url: text("https://a.example"),
        address: Some(Some(FormOfAddress::Formal)),
        logo: Some(None),
        ..BrandChange::default()
    };
    assert_eq!(change.brand, brand);
    assert_eq!(change.disabled, Some(true));
    let hours = change.quiet_hours.unwrap().unwrap();
    assert_eq!(hours.hours.unwrap().from_minute, 22 * 60);
    let [default] = &change.preferences.unwrap()[..] else { panic!() };
    assert_eq!((&default.mode, &default.tenant), (&Mode::Never, &None));
    assert_eq!(changed(r#""brand":null"#).brand.footer, Some(None));
    assert_eq!(changed(r#""quiet_hours":"default""#).quiet_hours, Some(None));
    assert_eq!(changed(r#""preferences":null"#).preferences, Some(Vec::new()));
}

#[test]
fn t42_each_field_of_a_tenant_is_checked() {
    for (body, reason) in [
        (r#""brand":{"logo":"http://a.example/a.png"}"#, "`brand.logo` cannot be"),
        (r#""brand":{"logo":"http://127.0.0.1/a.png"}"#, "`brand.logo` cannot be"),
        (r#""brand":{"logo_dark":"https://a.example/a'b.png"}"#, "`brand.logo_dark` cannot be"),
        (r#""brand":{"url":"http://127.0.0.1:8990"}"#, "`brand.url` cannot be"),
        (r#""brand":{"url":"https://a.example/\"b"}"#, "`brand.url` cannot be"),
        (r#""brand":{"url":"https://a.example/'b"}"#, "`brand.url` cannot be"),
        (r#""brand":{"color":"blue"}"#, "`brand.color` cannot be"),
        (r#""brand":{"url":"https://a.example/?a"}"#, "`brand.url` cannot be"),
        (r#""brand":{"address":"rude"}"#, "unknown address `rude`"),
        (r#""brand":{"font":"x"}"#, "unknown field `font` in `brand`"),
        (r#""from_name":"a\nb""#, "`from_name` cannot be"),
        (r#""from_name":"""#, "`from_name` cannot be"),
        (r#""reply_to":"nobody""#, "`reply_to` is not a mailbox"),
        (r#""locale":"de_AT""#, "`locale` must be a locale"),
        (r#""tz":"Mars""#, "`tz` names the unknown time zone"),
        (r#""quiet_hours":{"from":"22:00","to":"22:00"}"#, "`quiet_hours` begin and end"),
        (r#""limits":{}"#, "unknown field `limits`"),
        (r#""disabled":null"#, "`disabled` can't be null"),
        (r#""preferences":[{"topic":"t","channel":"*","mode":"never"}]"#, "a tenant can't mute"),
        (
            r#""preferences":[{"type":"work","channel":"email","mode":"never","tenant":"b"}]"#,
            "can't have `tenant`",
        ),
        (r#""members":[]"#, "unknown field `members`"),
        (r#""deleted":true,"name":"x""#, "unknown field `name`"),
    ] {
        refused("tenant", &format!(r#""id":"acme",{body}"#), reason, "");
    }
    refused("tenant", r#""name":"x""#, "`id` is missing", "");
    refused("tenant", r#""id":"""#, "`id` must be an id", "1 to 256 bytes");
}

#[test]
fn t42_tenants_end_and_members_come_and_go() {
    let (tenant, recipient) = (id("acme"), id("ada"));
    let deleted = Command::DeleteTenant { tenant: tenant.clone() };
    assert_eq!(read("tenant", r#""id":"acme","deleted":true"#), Ok(deleted));
    let both = r#""tenant":"acme","recipient":"ada""#;
    let join = Command::Join { tenant: tenant.clone(), recipient: recipient.clone() };
    assert_eq!(read("member", both), Ok(join));
    assert_eq!(read("unmember", both), Ok(Command::Leave { tenant, recipient }));
    refused("member", r#""tenant":"acme""#, "`recipient` is missing", "");
    let Ok(Command::Recipient(change)) = read("recipient", r#""id":"ada","tenants":["a","b"]"#)
    else {
        panic!()
    };
    assert_eq!(change.tenants, Some(vec![id("a"), id("b")]));
    let none = read("recipient", r#""id":"ada","tenants":null"#);
    assert!(matches!(none, Ok(Command::Recipient(change)) if change.tenants == Some(Vec::new())));
    let kept = read("recipient", r#""id":"ada""#);
    assert!(matches!(kept, Ok(Command::Recipient(change)) if change.tenants.is_none()));
}

#[test]
fn t42_lines_name_a_tenant_null_is_none_and_an_empty_one_a_fault() {
    let named = [
        ("subscribe", r#""recipient":"r","topic":"t""#),
        ("unsubscribe", r#""recipient":"r","topic":"t""#),
        ("preference", r#""recipient":"r","type":"work","channel":"email","mode":"never""#),
        ("seen", r#""recipient":"r","event":"e""#),
        ("read", r#""recipient":"r","event":"e""#),
        ("flush", r#""recipient":"r""#),
        ("cancel", r#""event":"e""#),
        ("withdraw", r#""cancellation_key":"k""#),
        ("publish", r#""id":"e","type":"work","object":{"id":"o"},"to":{}"#),
    ];
    for (op, body) in named {
        let with = |tenant: &str| read(op, &format!(r#"{body},"tenant":{tenant}"#));
        let (of_acme, of_none) = (with(r#""acme""#).unwrap(), with("null").unwrap());
        assert!(of_acme.names_tenant() && !of_none.names_tenant(), "{op}");
        assert_eq!(Ok(of_none), read(op, body), "{op}");
        refused(op, &format!(r#"{body},"tenant":"""#), "`tenant` must be an id", "1 to 256 bytes");
    }
    let seen = read("seen", r#""recipient":"r","event":"e","tenant":"acme""#);
    assert!(matches!(seen, Ok(Command::Mark { view: View::Of(of), .. }) if of == id("acme")));
}
