//! Situations of the list of acceptance that have to do with the pages.

use serde_json::{Value, json};
use tidings_api::token::sign;
use tidings_core::Id;

use super::*;
use crate::rig::signing_key;

const PAINT: &str = r#"
[digests.evening]
every = "day"
at = "18:00"
[users]
[tenants]
on = true
"#;

fn publish(post: &Post, tenant: &str) {
    let object = json!({"id": format!("paint/{tenant}"), "title": format!("Paint of {tenant}")});
    let to = json!({"recipients": ["ana"]});
    let event = json!({
        "type": "artwork_published", "object": object, "to": to, "tenant": tenant,
    });
    post.change(Method::POST, "/v1/events", &event);
}

/// The tenants of what waits for a mail, with the time at which it is due.
fn due(post: &Post) -> Vec<(String, String)> {
    let pending = post.change(Method::GET, "/v1/recipients/ana/pending", &Value::Null);
    let lanes = pending["lanes"].as_array().unwrap().iter();
    let mails = lanes.filter(|lane| lane["channel"] == "email");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut due: Vec<_> = mails.map(|lane| (text(&lane["tenant"]), text(&lane["due"]))).collect();
    due.sort();
    due
}

#[test]
fn situation_13_a_link_of_a_tenants_mail_and_its_token_change_that_tenant_alone() {
    let weekly = CONFIG.replacen("digest = \"daily\"", "digest = \"weekly\"", 1);
    let post = Post::new(&format!("{weekly}{PAINT}"));
    post.rig.make_signing_key("k1");
    for tenant in ["acme", "globex"] {
        let named = json!({"name": format!("Name of {tenant}")});
        post.change(Method::PUT, &format!("/v1/tenants/{tenant}"), &named);
        publish(&post, tenant);
    }
    post.rig.at("2024-01-08T09:00:00Z");
    let mails = [post.bytes(), post.bytes()];
    let is_of_acme = |mail: &&Vec<u8>| {
        let mail = mail_parser::MessageParser::default().parse(mail.as_slice()).unwrap();
        mail.body_text(0).unwrap().contains("Paint of acme")
    };
    let of_acme = way_out(mails.iter().find(is_of_acme).unwrap());
    // The link: only that tenant changes, of which alone the page speaks, and it can be taken back.
    let page = text(&get(&post, &of_acme));
    assert!(page.contains("New works") && !page.contains("globex"), "{page}");
    let done = text(&press(&post, &of_acme, &page, "New works: Stop"));
    assert!(!done.contains("globex"), "{done}");
    let of_type = |mode: &str| json!([{"type": "artwork_published", "channel": "email", "mode": mode, "tenant": "acme"}]);
    assert_eq!(preferences(&post), of_type("never"));
    undo(&post, &of_acme, &done);
    assert_eq!(preferences(&post), json!([]));
    // The inbox on a page: from Monday to each day at 18:00, and back.
    let (ana, acme) = (Id::new("ana").unwrap(), Id::new("acme").unwrap());
    let now_s = 1_704_704_400;
    let token = sign(&signing_key("k1"), &ana, now_s, now_s + 900, None, Some(&acme)).unwrap();
    let choose = |mode: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", &*bearer), ("content-type", "application/json")];
        let choice = json!([{"type": "artwork_published", "channel": "email", "mode": mode}]);
        let path = "/v1/me/preferences";
        let answer = post.rig.send(Method::PATCH, path, &headers, choice.to_string());
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", text(&answer));
    };
    for tenant in ["acme", "globex"] {
        publish(&post, tenant);
    }
    let at = |acme: &str, globex: &str| {
        [("acme", acme), ("globex", globex)].map(|(of, at)| (of.to_owned(), at.to_owned())).to_vec()
    };
    let monday = due(&post).remove(1).1;
    assert!(monday.starts_with("2024-01-15T"), "{monday}");
    assert_eq!(due(&post), at(&monday, &monday));
    choose("evening");
    assert_eq!(preferences(&post), of_type("evening"));
    assert_eq!(due(&post), at("2024-01-08T18:00:00Z", &monday));
    let next = post.change(Method::GET, "/v1/recipients/ana/preview", &Value::Null);
    assert_eq!(next["mail"]["at"], "2024-01-08T18:00:00Z");
    assert!(!next.to_string().contains("globex"), "{next}");
    choose("default");
    assert_eq!(preferences(&post), json!([]));
    assert_eq!(due(&post), at(&monday, &monday));
}
