//! The pages behind the links of tenants' mails, and rows of tenants in the inbox.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{CONFIG, get, header, preferences, press, send, text};
use crate::post::Post;

const ON: &str = "[tenants]\non = true\n";

/// A server with two tenants, whose digests show one item.
fn post() -> Post {
    let sentence = "[types.note]\ncategory = \"news\"\nsentence = { en = \"{object} of {tenant}\", de = \"{object} von {tenant}\" }\n\
                    channels = { inbox = { policy = \"now\" }, email = { policy = \"now\" } }\n";
    let config = CONFIG.replace("every = \"day\"", "every = \"day\"\nshow = 1");
    let post = Post::new(&format!("{ON}{config}{sentence}"));
    let brand = json!({"name": "Acme Shop", "color": "#cc0044", "url": "https://acme.example"});
    let acme =
        json!({"name": "Acme", "brand": brand, "locale": "de", "reply_to": "a@acme.example"});
    post.change(Method::PUT, "/v1/tenants/acme", &acme);
    let globex = json!({"name": "Globex", "brand": {"name": "Globex Hall", "color": "#006622"}});
    post.change(Method::PUT, "/v1/tenants/globex", &globex);
    post
}

fn publish(post: &Post, kind: &str, name: &str, tenant: Option<&str>) {
    let object = json!({"id": name.to_lowercase(), "title": name});
    let mut event = json!({"type": kind, "object": object, "to": {"recipients": ["ana"]}});
    if let Some(tenant) = tenant {
        event["tenant"] = json!(tenant);
    }
    post.change(Method::POST, "/v1/events", &event);
}

/// The path of a link below a base in a mail.
fn path(bytes: &[u8], base: &str) -> String {
    let link = header(bytes, "List-Unsubscribe").unwrap();
    let path = link.strip_prefix(&format!("<{base}")).unwrap_or_else(|| panic!("{link}"));
    path.strip_suffix('>').unwrap().to_owned()
}

#[test]
fn t42_pages_behind_links_wear_the_brand_of_the_tenant() {
    let post = post();
    publish(&post, "note", "Marilyn", Some("acme"));
    let mail = post.bytes();
    assert_eq!(header(&mail, "Reply-To").as_deref(), Some("a@acme.example"));
    let of_acme = path(&mail, "https://acme.example");
    publish(&post, "note", "Flowers", Some("globex"));
    let of_globex = path(&post.bytes(), "https://art.example");
    publish(&post, "note", "Elvis", None);
    let of_none = path(&post.bytes(), "https://art.example");

    let page = text(&get(&post, &of_acme));
    // Ana has no locale, the tenant has.
    assert!(page.contains("<html lang=\"de\"") && page.contains("Acme Shop"), "{page}");
    assert!(page.contains("#cc0044") && !page.contains("Globex"), "{page}");
    let done = text(&press(&post, &of_acme, &page, "Note: Abbestellen"));
    assert!(done.contains("Acme Shop"), "{done}");
    let page = text(&get(&post, &of_globex));
    assert!(page.contains("<html lang=\"en\"") && page.contains("Globex Hall"), "{page}");
    assert!(!page.contains("Acme") && !page.contains("#cc0044"), "{page}");
    let page = text(&get(&post, &of_none));
    assert!(page.contains("What Art sends you"), "{page}");
    assert!(!page.contains("Acme") && !page.contains("Globex"), "{page}");
    let never = json!([{"type": "note", "channel": "email", "mode": "never", "tenant": "acme"}]);
    assert_eq!(preferences(&post), never);

    // A change shows at once.
    let changed = json!({"brand": {"name": "Acme Store"}});
    post.change(Method::PATCH, "/v1/tenants/acme", &changed);
    let page = text(&get(&post, &of_acme));
    assert!(page.contains("Acme Store") && !page.contains("Acme Shop"), "{page}");
    post.change(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    let gone = get(&post, &of_acme);
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert!(!text(&gone).contains("Acme"), "{}", text(&gone));
    assert_eq!(send(&post, &of_acme, "List-Unsubscribe=One-Click").status, StatusCode::NOT_FOUND);
    assert_eq!(get(&post, &of_globex).status, StatusCode::OK);
}

/// The path of the rest of the digest of three works, of which a mail shows one.
fn rest_of(post: &Post, base: &str, tenant: &str) -> String {
    for name in ["Marilyn", "Flowers", "Elvis"] {
        publish(post, "artwork_published", name, Some(tenant));
    }
    post.rig.at("2024-01-02T09:00:00Z");
    let mail = post.bytes();
    let parsed = mail_parser::MessageParser::default().parse(&mail).unwrap();
    let body = parsed.body_text(0).unwrap();
    let rest = body.split(base).find(|link| link.starts_with("/more/"));
    let rest = rest.unwrap_or_else(|| panic!("{body}")).split_whitespace().next().unwrap();
    rest.to_owned()
}

#[test]
fn t42_the_rest_of_a_mail_is_in_the_locale_of_the_tenant_and_wears_its_brand_of_now() {
    let post = post();
    let rest = rest_of(&post, "https://acme.example", "acme");
    let page = text(&get(&post, &rest));
    assert!(page.contains("<html lang=\"de\"") && page.contains("Acme Shop"), "{page}");
    let changed = json!({"brand": {"name": "Acme Store"}, "locale": "fr"});
    post.change(Method::PATCH, "/v1/tenants/acme", &changed);
    let page = text(&get(&post, &rest));
    assert!(page.contains("<html lang=\"fr\"") && page.contains("Acme Store"), "{page}");
    assert!(!page.contains("Acme Shop"), "{page}");
    // So does the page that has nothing left to tell.
    for name in ["marilyn", "flowers", "elvis"] {
        let taken_back = json!({"notifiable": false});
        post.change(Method::PUT, &format!("/v1/objects/{name}"), &taken_back);
    }
    let gone = get(&post, &rest);
    assert_eq!(gone.status, StatusCode::GONE);
    let gone = text(&gone);
    assert!(gone.contains("<html lang=\"fr\"") && gone.contains("Acme Store"), "{gone}");
}

#[test]
fn t42_the_rest_of_a_tenants_mail_is_its_own() {
    let post = post();
    let rest = &rest_of(&post, "https://art.example", "globex");
    let page = get(&post, rest);
    assert_eq!(page.status, StatusCode::OK);
    let page = text(&page);
    assert!(page.contains("Globex Hall") && page.contains("#006622"), "{page}");
    assert!(!page.contains("Acme") && !page.contains("#cc0044"), "{page}");
    post.change(Method::DELETE, "/v1/tenants/globex", &Value::Null);
    let gone = get(&post, rest);
    assert_eq!(gone.status, StatusCode::GONE);
    let gone = text(&gone);
    assert!(!gone.contains("Globex") && !gone.contains("Marilyn"), "{gone}");
}

#[test]
fn t42_rows_of_the_inbox_name_their_tenant_in_its_locale() {
    let post = post();
    publish(&post, "note", "Marilyn", Some("acme"));
    publish(&post, "note", "Flowers", Some("globex"));
    publish(&post, "note", "Elvis", None);
    let rows = || {
        let page = post.change(Method::GET, "/v1/recipients/ana/inbox", &Value::Null);
        let text = |row: &Value| {
            assert_eq!(row["text"], row["items"][0]["text"]);
            format!("{} {}", row["lang"].as_str().unwrap(), row["text"].as_str().unwrap())
        };
        let groups = page["groups"].as_array().unwrap();
        let mut rows: Vec<String> = groups.iter().map(text).collect();
        rows.sort();
        rows
    };
    let shown = rows();
    assert!(shown.contains(&"de Marilyn von Acme".to_owned()), "{shown:?}");
    assert!(shown.contains(&"en Flowers of Globex".to_owned()), "{shown:?}");
    assert!(shown.iter().any(|row| row.ends_with("Elvis")), "{shown:?}");
    // The recipient's own goes before.
    post.change(Method::PATCH, "/v1/recipients/ana", &json!({"locale": "en"}));
    assert!(rows().contains(&"en Marilyn of Acme".to_owned()), "{:?}", rows());
}
