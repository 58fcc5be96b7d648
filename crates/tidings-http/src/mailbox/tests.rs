//! The mailbox over a Maildir with a few files.

use std::fs;
use std::path::Path;

use axum::http::{Method, StatusCode};
use tempfile::TempDir;
use tidings_core::{Id, Rules};
use tidings_mail::{Design, Sender, sample};

use crate::rig::{Answered, Rig};
use crate::{Access, Settings};

fn maildir() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for place in ["new", "cur", "tmp"] {
        fs::create_dir(dir.path().join(place)).unwrap();
    }
    dir
}

/// A type, of which there are samples.
const TYPE: &str = "[categories.news]\n[types.note]\ncategory = \"news\"\nchannels = { email = { policy = \"now\" } }\n";

fn rig(directory: &Path, access: Access) -> Rig {
    let config = format!(
        "[channels.email]\nprovider = \"file://{}\"\nfrom = \"Art <art@example.org>\"\n{TYPE}",
        directory.display()
    );
    Rig::with(&config, access, Settings::default())
}

fn get(rig: &Rig, path: &str) -> Answered {
    rig.send(Method::GET, path, &[], "")
}

fn text(answer: &Answered) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

#[test]
fn the_mailbox_shows_what_the_provider_caught() {
    let dir = maildir();
    let rig = rig(dir.path(), Access::Open);
    assert!(text(&get(&rig, "/_mail")).contains("No messages yet"));
    let design = Design::plain(Sender::parse("Art <art@example.org>").unwrap());
    let mut batch = sample(&Id::new("comment").unwrap(), &Rules::default(), "en", 3);
    let lines = batch.groups.iter_mut().flat_map(|group| &mut group.lines);
    for line in lines {
        let object = std::sync::Arc::make_mut(&mut line.object);
        object.title = Some("<script>alert(1)</script>".into());
    }
    let mail = tidings_mail::render(&batch, &design).unwrap();
    fs::write(dir.path().join("new/a b.eml"), &mail.bytes).unwrap();
    fs::write(dir.path().join("cur/odd:2,S"), b"\xff\xfe").unwrap();
    fs::write(dir.path().join("secret"), "secret").unwrap();

    let list = text(&get(&rig, "/_mail"));
    assert!(list.contains("somebody@example.org"), "{list}");
    assert!(list.contains("href=\"/_mail/a%20b%2Eeml\""), "{list}");
    let page = get(&rig, "/_mail/a%20b%2Eeml");
    let html = text(&page);
    for part in [
        "Message-ID",
        "width=\"375\"",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "aria-current=\"page\"",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert!(!html.contains("<script>"), "{html}");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    let clients = text(&get(&rig, "/_mail/a%20b%2Eeml?as=clients"));
    for part in [
        " KB in all",
        "<code>border-radius</code></th><td data-label=\"Ignored by\">Outlook on Windows</td>",
        "<code>padding</code></th><td data-label=\"Ignored by\"></td><td data-label=\"In part by\">Outlook on Windows",
    ] {
        assert!(clients.contains(part), "{part} in {clients}");
    }
    let part = |name: &str| text(&get(&rig, &format!("/_mail/a%20b%2Eeml/{name}")));
    assert!(part("dark").contains("@media (min-width:0)"));
    assert!(part("html").contains("<style>") && !part("bare").contains("<style"));
    let blocked = get(&rig, "/_mail/a%20b%2Eeml/blocked");
    let policy = blocked.headers["content-security-policy"].to_str().unwrap();
    assert!(!policy.contains("img-src"), "{policy}");
    // A page that is open sees by the name of the newest mail that there is one more.
    assert!(["a b.eml", "odd:2,S"].contains(&text(&get(&rig, "/_mail/-/newest")).as_str()));
    // Each page and file that the list leads to, or loads, is there.
    let loaded = list.split("src=\"/").skip(1);
    let links = list.split("href=\"/").skip(1).chain(loaded);
    for link in links.filter_map(|rest| rest.split('"').next()) {
        let browser = [("accept", "text/html"), ("host", "127.0.0.1:8990")];
        let answer = rig.send(Method::GET, &format!("/{link}"), &browser, "");
        assert_eq!(answer.status, StatusCode::OK, "{link}");
    }
    let frame = get(&rig, "/_mail/a%20b%2Eeml/html");
    let policy = frame.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("sandbox") && policy.contains("default-src 'none'"), "{policy}");
    assert!(text(&frame).starts_with("<!DOCTYPE html>"));
    let source = get(&rig, "/_mail/a%20b%2Eeml/source");
    assert_eq!(source.bytes, mail.bytes);
    assert_eq!(source.headers["content-type"], "text/plain; charset=utf-8");
    for path in [
        "/_mail/absent",
        "/_mail/..%2Fsecret",
        "/_mail/..",
        "/_mail/%2Fetc%2Fpasswd",
        "/_mail/a%20b%2Eeml/other",
    ] {
        assert_eq!(get(&rig, path).status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn only_a_developers_server_has_a_mailbox() {
    let dir = maildir();
    let keys = rig(dir.path(), Access::Keys { token: None });
    assert_eq!(get(&keys, "/_mail").status, StatusCode::UNAUTHORIZED);
    // Where no channel keeps messages the page says how one does.
    let without = text(&get(&Rig::new(), "/_mail"));
    assert!(without.contains("caught://"), "{without}");
    // A page of another site learns nothing.
    let open = rig(dir.path(), Access::Open);
    let foreign = [("origin", "https://evil.example")];
    let answer = open.send(Method::GET, "/_mail", &foreign, "");
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[test]
fn a1_a_mail_that_holds_mails_is_not_parsed() {
    let holding = [
        "Content-Type:message/rfc822\n\n",
        "Con tent-\tTYPE :\r\n (a\n\tmail) Message / (x) RFC822\r\n\r\n",
        "Content\r-Type:message/global\n\n",
        "Content-Type:multipart/digest;boundary=b\n\n--b\n\n",
        "X: content-type:text/plain\n content-type:message/rfc822\n\n",
    ];
    let dir = maildir();
    for (name, level) in holding.iter().enumerate() {
        let mail = format!("From: a@example.org\n{}", level.repeat((8 << 20) / level.len()));
        assert!(super::parsed(mail.as_bytes()).is_none(), "{level:?}");
        fs::write(dir.path().join(format!("new/{name}")), mail).unwrap();
    }
    fs::write(dir.path().join("new/good"), "From: a@example.org\nSubject: Good\n\nrfc822\n")
        .unwrap();
    let rig = rig(dir.path(), Access::Open);
    assert!(text(&get(&rig, "/_mail")).contains("Good"));
    assert_eq!(get(&rig, "/_mail/0").status, StatusCode::NOT_FOUND);
    assert_eq!(get(&rig, "/_mail/0/source").bytes.len(), 8 << 20);
}

#[test]
fn a_message_is_previewed_in_several_locales_side_by_side() {
    let dir = maildir();
    let config = format!(
        "[categories.c]\n[types.work]\ncategory = \"c\"\n\
         sentence = {{ en = \"{{actor}} made it\", de = \"{{actor}} hat es gemacht\" }}\n\
         channels = {{ email = {{ policy = \"now\" }} }}\n\
         [channels.email]\nprovider = \"file://{}\"\nfrom = \"Art <art@example.org>\"\n",
        dir.path().display()
    );
    let rig = Rig::with(&config, Access::Open, Settings::default());
    assert!(text(&get(&rig, "/_mail")).contains("href=\"/_mail/-/preview\""));
    // The languages of the configuration, and others that are asked for.
    let page = text(&get(&rig, "/_mail/-/preview"));
    assert!(page.contains("<b>en</b>") && page.contains("<b>de</b>"), "{page}");
    // The default one stands there once, however it is written.
    let austrian =
        format!("[defaults]\nlocale = \"de-AT\"\n{}", config.replace(", de =", ", de-AT ="));
    let austrian = Rig::with(&austrian, Access::Open, Settings::default());
    let page = text(&get(&austrian, "/_mail/-/preview"));
    assert!(page.contains("<b>de-AT</b>") && !page.contains("<b>de-at</b>"), "{page}");
    let answer = get(&rig, "/_mail/-/preview?show=work&locales=de-AT,he&items=2");
    let page = text(&answer);
    assert!(
        page.contains("<b>de-AT</b> <i>(in de)</i>") && page.contains("<b>he</b> <i>(in en)</i>"),
        "{page}"
    );
    let link = "/_mail/-/preview/message?show=work&amp;locales=de%2DAT&amp;items=2";
    assert!(page.contains(&format!("src=\"{link}\"")), "{page}");
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let message = get(&rig, &link.replace("&amp;", "&"));
    assert!(text(&message).contains("<html lang=\"de\""), "{}", text(&message));
    assert!(message.headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    for (query, status) in [
        ("?show=wrok", StatusCode::NOT_FOUND),
        ("?locales=de_AT", StatusCode::BAD_REQUEST),
        ("?locales=%3Cscript%3E", StatusCode::BAD_REQUEST),
    ] {
        assert_eq!(get(&rig, &format!("/_mail/-/preview{query}")).status, status, "{query}");
    }
    let closed = Rig::with(&config, Access::Keys { token: None }, Settings::default());
    assert_ne!(get(&closed, "/_mail/-/preview").status, StatusCode::OK);
}

#[test]
fn t42_a_message_is_previewed_in_the_brand_of_a_tenant() {
    let dir = maildir();
    let config = format!(
        "[tenants]\non = true\n[categories.c]\n[types.work]\ncategory = \"c\"\nsubject = \"{{count}} from {{tenant}}\"\n\
         channels = {{ email = {{ policy = \"now\" }} }}\n\
         [channels.email]\nprovider = \"file://{}\"\nfrom = \"Art <art@example.org>\"\n",
        dir.path().display()
    );
    let rig = Rig::with(&config, Access::Open, Settings::default());
    assert!(!text(&get(&rig, "/_mail/-/preview")).contains("name=\"tenant\""));
    for (id, color) in [("acme", "#cc0044"), ("globex", "#00aa44")] {
        let tenant = serde_json::json!({"name": id.to_uppercase(), "brand": {"color": color}});
        let made = rig.call(Method::PUT, &format!("/v1/tenants/{id}"), &tenant);
        assert!(made.status.is_success());
    }
    let page = text(&get(&rig, "/_mail/-/preview"));
    assert!(page.contains("<option>acme</option>") && !page.contains("ACME"), "{page}");
    let page = text(&get(&rig, "/_mail/-/preview?tenant=acme&items=2"));
    assert!(page.contains("<option selected>acme</option>"), "{page}");
    assert!(page.contains("2 from ACME") && !page.contains("GLOBEX"), "{page}");
    let link = "/_mail/-/preview/message?show=work&amp;locales=en&amp;items=2&amp;tenant=acme";
    assert!(page.contains(&format!("src=\"{link}\"")), "{page}");
    // The button of a mail about one thing has the brand's colour.
    let of_one = link.replace("&amp;", "&").replace("items=2", "items=1");
    let message = text(&get(&rig, &of_one));
    assert!(message.contains("#cc0044") && !message.contains("#00aa44"), "{message}");
    let unknown = get(&rig, "/_mail/-/preview?tenant=acne");
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// A server whose channels keep their messages, with ana on each, and an event for her.
fn catching(of_mails: &str) -> Rig {
    let sections: String = tidings_core::model::sending_channels()
        .map(|kind| {
            let from = match kind.name {
                "email" => format!("from = \"Art <art@example.org>\"\n{of_mails}"),
                "sms" => "from = \"+12025550100\"\n".to_owned(),
                _ => String::new(),
            };
            format!("[channels.{}]\nprovider = \"caught://\"\n{from}", kind.name)
        })
        .collect();
    let routes: Vec<String> = tidings_core::model::sending_channels()
        .map(|kind| format!("{} = {{ policy = \"now\" }}", kind.name))
        .collect();
    let config = format!(
        "[brand]\nname = \"Art\"\nurl = \"https://art.example\"\n[categories.c]\n[types.note]\ncategory = \"c\"\n\
         sentence = \"{{actor}} asks about {{object}}\"\nchannels = {{ {} }}\n{sections}",
        routes.join(", ")
    );
    let rig = Rig::catching(&config);
    let token = "a".repeat(64);
    let ana = serde_json::json!({"email": "ana@example.com", "addresses": {
        "sms": "+12025550123", "fcm": ["t1"], "apns": [token], "slack": "C0123456789",
        "discord": "123456789012345678", "teams": "https://teams.example/hook", "telegram": "@ana_art",
        "webhook": "https://ana.example/hook",
        "webpush": [{"endpoint": "https://push.example/1", "keys": {
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}],
    }});
    let put = rig.call(Method::PUT, "/v1/recipients/ana", &ana);
    assert!(put.status.is_success(), "{}", text(&put));
    let event = serde_json::json!({"id": "e1", "type": "note",
        "actor": {"id": "ben", "title": "Ben <b>Okafor</b>"},
        "object": {"id": "o", "title": "مشروع", "url": "https://art.example/o"},
        "to": {"recipients": ["ana"]}});
    let published = rig.call(Method::POST, "/v1/events", &event);
    assert_eq!(published.status, StatusCode::ACCEPTED, "{}", text(&published));
    rig
}

/// The names of the messages that the list shows, newest first, once there are so many.
fn names(rig: &Rig, path: &str, count: usize) -> Vec<String> {
    loop {
        let list = text(&get(rig, path));
        let links = list.split("href=\"/_mail/caught%2D").skip(1);
        let names: Vec<String> = links
            .filter_map(|link| Some(format!("caught-{}", link.split(['"', '?']).next()?)))
            .collect();
        if names.len() >= count {
            return names;
        }
        std::thread::yield_now();
    }
}

#[test]
fn each_channel_may_keep_its_messages_for_the_mailbox() {
    let rig = catching("");
    let all = names(&rig, "/_mail", 10);
    let pages: Vec<String> =
        all.iter().map(|name| text(&get(&rig, &format!("/_mail/{name}")))).collect();
    let page = |channel: &str| {
        let badge = format!("<header class=\"of\"><span class=\"badge {channel}\">");
        pages.iter().find(|page| page.contains(&badge)).unwrap_or_else(|| panic!("{channel}"))
    };
    for (channel, part) in [
        ("email", "<iframe src=\"/_mail/caught%2D"),
        ("sms", "<p class=\"bubble\">Ben &lt;b&gt;Okafor&lt;/b&gt; asks about"),
        ("sms", "1 part · "),
        ("sms", " · UCS-2"),
        ("webpush", "class=\"phone lock\""),
        ("fcm", "class=\"push\""),
        ("apns", "class=\"push\""),
        ("slack", "class=\"chat slack\""),
        ("discord", "class=\"chat discord\""),
        ("teams", "class=\"button\" href=\"https://art.example/o\""),
        ("telegram", "class=\"chat telegram\""),
        ("webhook", "webhook-id: msg_"),
        ("webhook", "&quot;type&quot;: &quot;notification.message&quot;"),
    ] {
        assert!(page(channel).contains(part), "{channel}: {part} in {}", page(channel));
        assert!(!page(channel).contains("<b>Okafor"), "{channel}");
    }
    // Found by recipient and by address, on one channel and on all.
    assert_eq!(names(&rig, "/_mail?to=ANA", 10).len(), 10);
    assert_eq!(names(&rig, "/_mail?to=ana%40example.com", 1).len(), 1);
    assert_eq!(names(&rig, "/_mail?channel=slack", 1).len(), 1);
    let none = text(&get(&rig, "/_mail?to=bob"));
    assert!(none.contains("No message is to “<bdi>bob</bdi>”"), "{none}");
}

#[test]
fn a_redirected_mail_says_for_whom_it_is() {
    let rig = catching("redirect = \"qa@example.org\"\n");
    let names = names(&rig, "/_mail?to=qa@example.org", 1);
    let source = text(&get(&rig, &format!("/_mail/{}/source", names[0])));
    let header = |name: &str| {
        let found = source.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_else(|| panic!("{name} in {source}"))
    };
    assert_eq!(header("To"), "qa@example.org");
    assert_eq!(header("X-Tidings-Recipient"), "ana <ana@example.com>");
    // Whoever tries it sees the mail with all that it will have.
    assert!(header("List-Unsubscribe").starts_with("<https://art.example/u/"), "{source}");
    let page = text(&get(&rig, &format!("/_mail/{}", names[0])));
    assert!(page.contains("<h1>[ana@example.com] "), "{page}");
    // Only those of the channel go elsewhere.
    let text_message = text(&get(&rig, "/_mail?channel=sms&to=%2B12025550123"));
    assert!(!text_message.contains("No message"), "{text_message}");
}

#[test]
fn a_channel_lets_messages_to_others_than_allowed_addresses_go_nowhere() {
    let rig = catching("allow = [\"@example.org\"]\n");
    assert_eq!(names(&rig, "/_mail", 9).len(), 9);
    let event = text(&get(&rig, "/v1/events/e1"));
    assert!(event.contains("not_allowed"), "{event}");
    let rig = catching("allow = [\"@Example.com\"]\n");
    assert_eq!(names(&rig, "/_mail", 10).len(), 10);
}
