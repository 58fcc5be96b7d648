//! Calls through a proxy that the environment names.

use tidings_tls::Proxies;

use super::*;
use crate::channel::http::wire::http1::Http1;
use crate::channel::http::wire::http2::Http2;
use crate::channel::http::wire::{CallEnd, Wire};
use crate::channel::http::{AllowedHosts, HttpRequest};

/// A proxy that connects nobody: what each asked it for.
fn proxy(calls: usize) -> (Proxies, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://ann:pass@{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let heard = (0..calls).map(|_| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").unwrap();
            head
        });
        heard.collect()
    });
    let variable = |name: &str| match name {
        "HTTPS_PROXY" => Some(url.clone()),
        "NO_PROXY" => Some("direct.invalid".to_owned()),
        _ => None,
    };
    (Proxies::read(&variable).unwrap(), thread)
}

fn request(url: &str) -> HttpRequest {
    HttpRequest::json(url.to_owned(), &serde_json::json!({}))
}

/// The words of a call that came to nothing before the request.
fn broken(wire: &dyn Wire, url: &str) -> String {
    match wire.call(&request(url), GO) {
        CallEnd::Broken(why, false) => why,
        CallEnd::Barred => "barred".to_owned(),
        _ => panic!("{url} was called"),
    }
}

#[test]
fn field_4_providers_are_called_through_the_proxy_of_the_environment() {
    let (proxies, thread) = proxy(3);
    let patience = ServerTimeouts::default();
    let one = Http1::by(proxies.clone(), AllowedHosts::Anywhere, patience, false);
    let two = Http2::by(proxies.clone(), patience).unwrap();
    for wire in [&one as &dyn Wire, &two] {
        // No name is looked up here.
        let why = broken(wire, "https://provider.invalid/x");
        assert!(why.contains("proxy") && why.contains("403"), "{why}");
    }
    // What recipients name is looked up and checked all the same, and the proxy is asked for what was found.
    let public = Http1::by(proxies, AllowedHosts::Public, patience, true);
    assert!(broken(&public, "https://8.8.8.8/x").contains("403"));
    for private in ["https://10.0.0.1/x", "https://127.0.0.1/x", "https://[::ffff:10.0.0.1]/x"] {
        assert_eq!(broken(&public, private), "barred", "{private}");
    }
    let why = broken(&one, "https://direct.invalid/x");
    assert!(!why.contains("proxy"), "{why}");
    let heard = thread.join().unwrap();
    for (head, asked) in
        heard.iter().zip(["provider.invalid:443", "provider.invalid:443", "8.8.8.8:443"])
    {
        assert!(head.starts_with(&format!("CONNECT {asked} HTTP/1.1\r\n")), "{head}");
        let head = head.to_ascii_lowercase();
        // `ann:pass`
        assert!(head.contains("proxy-authorization: basic yw5uonbhc3m="), "{head}");
    }
}

#[test]
fn field_4_a_host_without_an_address_is_told_in_words() {
    for base in ["https://nohost.invalid", "http://nohost.invalid"] {
        let channel = channel_of("telegram", &format!("telegram://${{KEY}}?base={base}"), None);
        let outcome = channel.send(&others_note(), GO);
        let why = outcome.words().unwrap();
        assert!(why.contains("lookup") || why.contains("not known"), "{why}");
    }
}

fn others_note() -> Rendered {
    super::others::note("telegram", &["-1001234567890"], None)
}
