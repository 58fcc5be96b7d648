//! Changes of recipients: the fields that are given, and addresses by channel.

use tidings_core::model::channel_no;

use super::*;

#[test]
fn addresses_are_given_by_channel_or_the_short_way() {
    let read = |fields: &str| match read("recipient", &format!(r#""id":"r",{fields}"#)) {
        Ok(Command::Recipient(change)) => Ok(change.addresses),
        Ok(_) => panic!("another command"),
        Err(fault) => Err(fault.to_string()),
    };
    let address = || Ok([(EMAIL_NO, vec!["a@b".into()])].into());
    assert_eq!(read(r#""email":"a@b""#), address());
    assert_eq!(read(r#""addresses":{"email":"a@b"}"#), address());
    assert_eq!(read(r#""email":"a@b","addresses":{"email":"a@b"}"#), address());
    let removed = || Ok([(EMAIL_NO, Vec::new())].into());
    assert_eq!(read(r#""addresses":{"email":null}"#), removed());
    let all = read(r#""addresses":null"#).unwrap();
    assert_eq!(all.len(), tidings_core::model::sending_channels().count());
    assert!(all.values().all(Vec::is_empty));
    assert_eq!(read(r#""addresses":{}"#), Ok([].into()));
    for (fields, reason) in [
        (r#""email":"a@b","addresses":{"email":"c@d"}"#, "differ"),
        (r#""email":null,"addresses":{"email":"c@d"}"#, "differ"),
        (r#""addresses":{"email":"ann"}"#, "`addresses.email` must be an address"),
        (r#""addresses":{"inbox":"a@b"}"#, "unknown field `inbox` in `addresses`"),
        (r#""addresses":{"sms":"0151 123"}"#, "`addresses.sms` must be an address"),
        (
            r#""addresses":{"sms":["+4915112345678"]}"#,
            "`addresses.sms` must be one address, got a list",
        ),
        (r#""addresses":{"fcm":["a","b c"]}"#, "`addresses.fcm` must be an address"),
        (
            r#""addresses":{"webpush":{"endpoint":"https://push.example"}}"#,
            "`addresses.webpush` must be an address",
        ),
        (
            r#""addresses":{"slack":"U012345"}"#,
            "`addresses.slack` must be the id of a channel or member",
        ),
        (
            r#""addresses":{"webhook":"http://example.org"}"#,
            "`addresses.webhook` must be an address",
        ),
        (r#""addresses":"a@b""#, "`addresses` must be an object"),
        (r#""locale":"german""#, "did you mean `de`?"),
        (r#""locale":"de_AT""#, "did you mean `de-AT`?"),
        (r#""locale":"klingon""#, "write a BCP 47 tag"),
    ] {
        let fault = read(fields).unwrap_err();
        assert!(fault.contains(reason), "{fields}: {fault}");
    }
}

#[test]
fn recipients_are_changed_only_where_something_is_given() {
    let Ok(Command::Recipient(change)) = read("recipient", r#""id":"r""#) else { panic!() };
    assert!(change.addresses.is_empty());
    assert_eq!((change.tz, change.lat, change.state), (None, None, None));
    let body = r#""id":"r","email":"a@b","tz":null,"locale":"pt-BR","lat":null,"lon":null,"state":"unconfirmed""#;
    let Ok(Command::Recipient(change)) = read("recipient", body) else { panic!() };
    assert_eq!(change.addresses, [(EMAIL_NO, vec!["a@b".into()])].into());
    assert_eq!(change.tz, Some(None));
    assert_eq!(change.locale, Some(Some("pt-BR".to_owned())));
    assert_eq!((change.lat, change.lon), (Some(None), Some(None)));
    assert_eq!(change.state, Some(RecipientState::Unconfirmed));
    let Ok(Command::Recipient(change)) = read("recipient", r#""id":"r","lat":-90,"lon":180.0"#)
    else {
        panic!()
    };
    assert_eq!((change.lat, change.lon), (Some(Some(-90.0)), Some(Some(180.0))));
}

#[test]
fn a_push_channel_takes_one_or_a_list() {
    let read = |fields: &str| match read("recipient", &format!(r#""id":"r",{fields}"#)) {
        Ok(Command::Recipient(change)) => change.addresses,
        other => panic!("{other:?}"),
    };
    let fcm = channel_no("fcm").unwrap();
    let tokens = |tokens: &[&str]| {
        let all = tokens.iter().map(|token| (*token).into());
        [(fcm, all.collect())].into()
    };
    assert_eq!(read(r#""addresses":{"fcm":"a"}"#), tokens(&["a"]));
    assert_eq!(read(r#""addresses":{"fcm":["a","b","a"]}"#), tokens(&["a", "b"]));
    assert_eq!(read(r#""addresses":{"fcm":[]}"#), tokens(&[]));
    let (p256dh, auth) = ("B".repeat(87), "a".repeat(22));
    let one = format!(
        r#"{{"endpoint":"https://push.example/1","keys":{{"p256dh":"{p256dh}","auth":"{auth}"}}}}"#
    );
    let webpush = channel_no("webpush").unwrap();
    for given in [one.clone(), format!("[{one}]"), serde_json::to_string(&one).unwrap()] {
        let read = read(&format!(r#""addresses":{{"webpush":{given}}}"#));
        assert_eq!(read, [(webpush, vec![one.as_str().into()])].into());
    }
}
