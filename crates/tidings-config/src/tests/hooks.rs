//! Tests of hooks.

use tidings_core::model::OccurrenceKind;

use super::{refused, rules};

fn hook(keys: &str) -> String {
    format!("[[hooks]]\n{keys}\n")
}

const REST: &str = "secret = '${S}'\nof = ['message.sent']";

#[test]
fn a_hook_has_the_name_of_its_host_unless_it_has_another() {
    assert_eq!(rules("").hooks, []);
    let first = hook(&format!("url = 'https://app.example.org/tidings'\n{REST}"));
    let second = hook(&format!("name = 'two'\nurl = 'https://app.example.org:8443/x'\n{REST}"));
    let hooks = rules(&format!("{first}{second}")).hooks;
    let names: Vec<&str> = hooks.iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(names, ["app.example.org", "two"]);
    assert_eq!(hooks[0].secret, "S");
    assert_eq!(hooks[0].of, [OccurrenceKind::MessageSent].into());
    refused(&format!("{first}{first}"), "two hooks have the name `app.example.org`");
}

#[test]
fn a_hook_is_called_by_https_or_on_this_machine_unless_private_hosts_are_allowed() {
    let with = |url: &str, more: &str| hook(&format!("url = '{url}'\n{REST}\n{more}"));
    for url in
        ["https://app.example.org", "http://localhost:3000/x", "http://127.0.0.1", "http://[::1]:9"]
    {
        assert_eq!(rules(&with(url, "")).hooks[0].url, url);
    }
    for (url, reason) in [
        ("http://app.example.org/x", "over `http` on this machine only"),
        ("http://10.0.0.1", "over `http` on this machine only"),
        ("https://192.168.0.7/x", "not of the public network"),
    ] {
        refused(&with(url, ""), reason);
        assert!(rules(&with(url, "allow_private = true")).hooks[0].allow_private);
    }
    for url in
        ["app.example.org", "ftp://app.example.org", "https://u:p@app.example.org", "https:///x"]
    {
        refused(&with(url, ""), "is no http or https URL");
    }
}

#[test]
fn a_hook_without_a_secret_or_with_an_unknown_kind_is_refused() {
    let url = "url = 'https://app.example.org'";
    let of = |keys: &str, reason: &str| refused(&hook(&format!("{url}\n{keys}")), reason);
    of("of = ['message.sent']", "lacks `secret`");
    of("secret = '${S}'", "lacks `of`");
    of("secret = '${S}'\nof = []", "is empty");
    of("secret = '${S}'\nof = ['message.send']", "message.send");
    of("secret = 'plain'\nof = ['message.sent']", "must not contain a secret");
}
