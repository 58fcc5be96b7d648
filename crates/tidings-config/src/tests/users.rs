//! Tests of what end users may do by themselves.

use tidings_core::model::{DAY_MS, HOUR_MS, MINUTE_MS};
use tidings_core::rules::UsersRules;

use super::{refused, rules};

fn users(keys: &str) -> String {
    format!("[users]\n{keys}\n")
}

#[test]
fn end_users_may_do_nothing_unless_it_says_so() {
    assert_eq!(rules("").users, None);
    let bare = rules(&users("")).users.unwrap();
    let usual =
        UsersRules { origins: Vec::new(), topics: Vec::new(), tokens_ms: HOUR_MS, streams: 10_000 };
    assert_eq!(bare, usual);
    let all = "origins = ['https://app.example.org']\ntopics = ['artist/', 'show']\n\
               tokens = '24h'\nstreams = 5";
    let all = rules(&users(all)).users.unwrap();
    assert_eq!(all.origins, ["https://app.example.org"]);
    assert_eq!(all.topics, ["artist/", "show"]);
    assert_eq!((all.tokens_ms, all.streams), (DAY_MS, 5));
}

#[test]
fn origins_are_those_that_browsers_send() {
    for origin in [
        "https://app.example.org",
        "https://app.example.org:8443",
        "http://localhost:3000",
        "http://127.0.0.1:3000",
        "https://[::1]:3000",
        "https://xn--bcher-kva.example",
        "capacitor://localhost",
    ] {
        let rules = rules(&users(&format!("origins = ['{origin}']")));
        assert_eq!(rules.users.unwrap().origins, [origin]);
    }
    for origin in [
        "*",
        "null",
        "",
        "app.example.org",
        "https://",
        "https://*.example.org",
        "https://app.example.org/",
        "https://app.example.org/inbox",
        "https://App.example.org",
        "HTTPS://app.example.org",
        "https://app.example.org:443",
        "http://app.example.org:80",
        "https://user@app.example.org",
        "https://bücher.example",
        "https://app.example.org https://b.example.org",
    ] {
        refused(&users(&format!("origins = ['{origin}']")), "not the origin of a page");
    }
    refused(&users("origins = 'https://app.example.org'"), "a list");
    refused(&users("origin = []"), "unknown key");
}

#[test]
fn topics_and_bounds_of_end_users_are_checked() {
    for prefix in ["", "/", "artist//"] {
        refused(&users(&format!("topics = ['{prefix}']")), "no topic begins with");
    }
    let tokens = |text: &str| users(&format!("tokens = '{text}'"));
    assert_eq!(rules(&tokens("1m")).users.unwrap().tokens_ms, MINUTE_MS);
    for text in ["59s", "1441m", "2d"] {
        refused(&tokens(text), "between 1m and");
    }
    for streams in ["0", "-1", "1000001"] {
        refused(&users(&format!("streams = {streams}")), "1 to 1000000");
    }
}
