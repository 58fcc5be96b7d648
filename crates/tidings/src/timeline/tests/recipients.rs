//! Changes of recipients: the fields that are given, and addresses by channel.

use super::*;

#[test]
fn addresses_are_given_by_channel_or_the_short_way() {
    let read = |fields: &str| match read("recipient", &format!(r#""id":"r",{fields}"#)) {
        Ok(Command::Recipient(change)) => Ok(change.addresses),
        Ok(_) => panic!("another command"),
        Err(fault) => Err(fault.to_string()),
    };
    let address = || Ok([(EMAIL_NO, Some("a@b".to_owned()))].into());
    assert_eq!(read(r#""email":"a@b""#), address());
    assert_eq!(read(r#""addresses":{"email":"a@b"}"#), address());
    assert_eq!(
        read(r#""email":"a@b","addresses":{"email":"a@b"}"#),
        address()
    );
    let removed = || Ok([(EMAIL_NO, None)].into());
    assert_eq!(read(r#""addresses":{"email":null}"#), removed());
    assert_eq!(read(r#""addresses":null"#), removed());
    assert_eq!(read(r#""addresses":{}"#), Ok([].into()));
    for (fields, reason) in [
        (r#""email":"a@b","addresses":{"email":"c@d"}"#, "differ"),
        (r#""email":null,"addresses":{"email":"c@d"}"#, "differ"),
        (
            r#""addresses":{"email":"ann"}"#,
            "`addresses.email` must be an address",
        ),
        (
            r#""addresses":{"inbox":"a@b"}"#,
            "unknown field `inbox` in `addresses`",
        ),
        (r#""addresses":"a@b""#, "`addresses` must be an object"),
    ] {
        let fault = read(fields).unwrap_err();
        assert!(fault.contains(reason), "{fields}: {fault}");
    }
}

#[test]
fn recipients_are_changed_only_where_something_is_given() {
    let Ok(Command::Recipient(change)) = read("recipient", r#""id":"r""#) else {
        panic!()
    };
    assert!(change.addresses.is_empty());
    assert_eq!((change.tz, change.lat, change.state), (None, None, None));
    let body = r#""id":"r","email":"a@b","tz":null,"locale":"pt-BR","lat":null,"lon":null,"state":"unconfirmed""#;
    let Ok(Command::Recipient(change)) = read("recipient", body) else {
        panic!()
    };
    assert_eq!(
        change.addresses,
        [(EMAIL_NO, Some("a@b".to_owned()))].into()
    );
    assert_eq!(change.tz, Some(None));
    assert_eq!(change.locale, Some(Some("pt-BR".to_owned())));
    assert_eq!((change.lat, change.lon), (Some(None), Some(None)));
    assert_eq!(change.state, Some(State::Unconfirmed));
    let Ok(Command::Recipient(change)) = read("recipient", r#""id":"r","lat":-90,"lon":180.0"#)
    else {
        panic!()
    };
    assert_eq!(
        (change.lat, change.lon),
        (Some(Some(-90.0)), Some(Some(180.0)))
    );
}
