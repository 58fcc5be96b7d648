//! Parameters that calls of a recipient do not know.

use super::*;

/// A misspelt `tenant` would mark, mute or show what is of all tenants.
#[test]
fn no_call_of_a_recipient_takes_a_parameter_that_it_does_not_know() {
    let server = Server::new();
    server.make_recipient("ana");
    let token = server.token("ana");
    let marks = ["seen", "read", "unread", "archive", "unarchive", "snooze", "unsnooze", "delete"];
    let marks = marks.map(|mark| (Method::POST, format!("inbox/{mark}")));
    let others = [
        (Method::GET, "inbox"),
        (Method::GET, "inbox/counts"),
        (Method::GET, "live"),
        (Method::GET, "pending"),
        (Method::GET, "preferences"),
        (Method::PATCH, "preferences"),
        (Method::GET, "subscriptions"),
        (Method::PUT, "subscriptions/artist/1"),
        (Method::DELETE, "subscriptions/artist/1"),
        (Method::POST, "flush"),
        (Method::PUT, "push"),
        (Method::DELETE, "push"),
    ];
    let others = others.map(|(method, path)| (method, path.to_owned()));
    for (method, path) in marks.into_iter().chain(others) {
        for (begin, bearer) in [("me", &*token), ("recipients/ana", server.admin.text())] {
            let path = format!("/v1/{begin}/{path}?tennant=acme");
            let answer = server.send(method.clone(), &path, bearer, &Value::Null);
            assert_eq!(code(&answer), refused(400, "invalid_query"), "{method} {path}");
        }
    }
}
