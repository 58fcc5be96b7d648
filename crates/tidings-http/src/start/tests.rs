//! The pages at `/` and `/docs/`.

use axum::http::{Method, StatusCode};

use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

fn get(rig: &Rig, path: &str, headers: &[(&str, &str)]) -> (Answered, String) {
    let answer = rig.send(Method::GET, path, headers, "");
    let text = String::from_utf8(answer.bytes.clone()).unwrap();
    (answer, text)
}

#[test]
fn a_developers_server_begins_with_what_to_look_at_and_to_try() {
    let rig = Rig::new();
    let host = ("host", "127.0.0.1:9123");
    let (page, html) = get(&rig, "/", &[host, BROWSER]);
    assert_eq!(page.status, StatusCode::OK);
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(html.contains("curl http://127.0.0.1:9123/v1/events"), "{html}");
    // Each of its links leads somewhere.
    for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        let (answer, _) = get(&rig, link, &[host, BROWSER]);
        assert_eq!(answer.status, StatusCode::OK, "{link}");
    }
    // What it says to try works as it stands there.
    let bodies = html.split("-d &#x27;").skip(1).chain(html.split("-d '").skip(1));
    let bodies: Vec<String> = bodies
        .filter_map(|rest| rest.split("'</pre>").next())
        .map(|body| body.replace("&quot;", "\"").replace("&#x2f;", "/"))
        .collect();
    let json = [("content-type", "application/json")];
    let put = rig.send(Method::PUT, "/v1/recipients/ana", &json, bodies[0].clone());
    assert!(put.status.is_success(), "{bodies:?}");
    let published = rig.send(Method::POST, "/v1/events", &json, bodies[1].clone());
    assert_eq!(published.json()["notifications"], 1, "{bodies:?}");
}

#[test]
fn another_server_says_what_it_is_and_nothing_of_what_it_has() {
    let rig = Rig::with(CONFIG, Access::Keys { token: None }, Settings::default());
    let (page, html) = get(&rig, "/", &[BROWSER]);
    assert_eq!(page.status, StatusCode::OK);
    assert!(html.contains("href=\"/docs/\""), "{html}");
    for secret in ["note", "weekly", "news", "_mail", "_inbox", env!("CARGO_PKG_VERSION")] {
        assert!(!html.contains(secret), "{secret} in {html}");
    }
    let (plain, text) = get(&rig, "/", &[]);
    assert_eq!(plain.status, StatusCode::OK);
    assert!(text.starts_with("This is a server of tidings.") && !text.contains('<'), "{text}");
    let (docs, html) = get(&rig, "/docs/", &[BROWSER]);
    assert_eq!(docs.status, StatusCode::OK);
    for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert_eq!(get(&rig, link, &[BROWSER]).0.status, StatusCode::OK, "{link}");
    }
    assert_eq!(get(&rig, "/docs/", &[]).0.status, StatusCode::NOT_FOUND);
    assert_eq!(get(&rig, "/_mail", &[BROWSER]).0.status, StatusCode::UNAUTHORIZED);
}
