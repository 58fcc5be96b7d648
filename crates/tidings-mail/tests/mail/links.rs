//! Links: of each address that is taken in, both bodies have one.

use std::sync::Arc;

use proptest::prelude::*;
use tidings_core::model::Pivot;
use tidings_mail::{LinkAddress, short};

use crate::fixture::{assert_proper, batch, bodies, group, line, object};
use crate::golden::design;

/// The link of an address in the HTML of a mail, in its text part, and in a message in a few words.
fn links(address: &str) -> [Option<String>; 3] {
    let mut of = line(object("o", "Plan"), &["named"]);
    Arc::make_mut(&mut of.object).url = Some(address.to_owned());
    let batch = batch(vec![group(Pivot::Object, None, vec![of])]);
    let mail = tidings_mail::render(&batch, &design()).unwrap();
    assert_proper(&mail);
    let (text, html) = bodies(&mail);
    let heading = html.split("<h1").nth(1).unwrap().split("</h1>").next().unwrap();
    let href = heading
        .split("href=\"")
        .nth(1)
        .map(|rest| rest.split('"').next().unwrap())
        .map(|link| link.replace("&amp;", "&").replace("&#39;", "'"));
    let begins = ["http://", "https://", "mailto:"];
    let is_link = |line: &&str| begins.iter().any(|begin| line.starts_with(begin));
    let about = text.split("\n----").next().unwrap();
    let in_text = about.lines().find(is_link).map(str::to_owned);
    let short = short(&batch, &design()).unwrap().url;
    [href, in_text, short]
}

#[test]
fn field_6_what_is_accepted_is_linked() {
    for (address, link) in [
        ("https://x.example/f/Plan final.pdf", "https://x.example/f/Plan%20final.pdf"),
        ("f/Plan final.pdf", "https://example.org/f/Plan%20final.pdf"),
        ("https://x.example/o'neil", "https://x.example/o'neil"),
        ("/a|b?c={id}&d=^", "https://example.org/a%7Cb?c=%7Bid%7D&d=%5E"),
        ("mailto:ben@example.org", "mailto:ben@example.org"),
        ("https://x.example/山?q=川", "https://x.example/%E5%B1%B1?q=%E5%B7%9D"),
    ] {
        assert_eq!(links(address), [(); 3].map(|()| Some(link.to_owned())), "{address}");
    }
}

/// Addresses of all kinds, good and bad.
fn address() -> impl Strategy<Value = String> {
    let begin = prop_oneof![
        Just("https://example.org/"),
        Just("http://[::1]:80?"),
        Just("https://b\u{fc}cher.example#"),
        Just("https://"),
        Just("MAILTO:"),
        Just("/"),
        Just(""),
        Just("x:"),
    ];
    let rest =
        prop_oneof!["\\PC{0,30}", "[ -~]{0,40}", "[a-z/'\"<>{}|^`%\\\\ @:?#&]{0,40}", ".{0,20}"];
    (begin, rest).prop_map(|(begin, rest)| format!("{begin}{rest}"))
}

proptest! {
    #[test]
    fn field_6_any_address_is_refused_or_linked(address in address()) {
        let links = links(&address);
        match LinkAddress::parse(&address) {
            Ok(_) => {
                let link = links[0].clone().unwrap_or_default();
                prop_assert_eq!(&links, &[(); 3].map(|()| Some(link.clone())));
                let is_of_a_uri = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c);
                prop_assert!(link.chars().all(is_of_a_uri), "{link}");
            }
            Err(_) => prop_assert!(links[0].is_none() && links[1].is_none()),
        }
    }
}
