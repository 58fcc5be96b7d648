//! Tests of the console: where it is, and who signs in.

use std::net::IpAddr;

use tidings_core::model::Role;
use tidings_core::rules::{ConsoleProxy, ConsoleRules, ConsoleUrl, JwtProxy};

use super::*;

fn console(keys: &str) -> ConsoleRules {
    rules(&format!("[console]\n{keys}\n")).console.unwrap()
}

/// The faults of the section, each with its line and column.
fn faults(keys: &str) -> Vec<(usize, usize, String, String)> {
    let faults = parse(&format!("[console]\n{keys}\n"), "t.toml").expect_err(keys);
    let told = |fault: Fault| {
        let place = fault.place.unwrap();
        (place.line, place.column, fault.reason, fault.hint)
    };
    faults.list.into_iter().map(told).collect()
}

/// The address of a peer as a socket of IPv6 has it.
fn peer(text: &str) -> [u8; 16] {
    match text.parse().unwrap() {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

const JWT: &str = "jwt = 'Cf-Access-Jwt-Assertion', keys = 'https://e.org/certs', \
                   issuer = 'https://e.org', audience = 'a1'";

#[test]
fn the_console_is_off_unless_it_is_there() {
    assert_eq!(rules("").console, None);
    let bare = console("");
    assert_eq!(bare, ConsoleRules::default());
    assert_eq!(bare.path(), "/console");
    assert!(!bare.knows_host("example.org"));
}

#[test]
fn the_contracts_example_of_the_console_is_read() {
    let read = console(
        "url = 'https://Tidings.example.org/console'\n\
         hosts = ['tidings.internal', '10.0.0.5']\n\
         proxy = { header = 'X-Forwarded-User', trusted = ['10.0.0.7/32', 'fd00::/8'] }\n\
         groups = 'X-Forwarded-Groups'\n\
         roles = { 'mara@example.org' = 'operate', 'group:Support' = 'support' }\n\
         show = ['data.plan', 'data.shop.name']",
    );
    let url = ConsoleUrl {
        is_https: true,
        host: "tidings.example.org".to_owned(),
        port: None,
        path: "/console".to_owned(),
    };
    assert_eq!(read.url, Some(url));
    for host in ["tidings.example.org", "TIDINGS.internal", "10.0.0.5"] {
        assert!(read.knows_host(host), "{host}");
    }
    assert!(!read.knows_host("evil.example"));
    let Some(ConsoleProxy::Header(proxy)) = &read.proxy else { panic!("{read:?}") };
    assert_eq!(proxy.header, "X-Forwarded-User");
    for (address, is_trusted) in [
        ("10.0.0.7", true),
        ("::ffff:10.0.0.7", true),
        ("10.0.0.8", false),
        ("fd12::1", true),
        ("fe80::1", false),
        ("::", false),
    ] {
        assert_eq!(proxy.trusts(peer(address)), is_trusted, "{address}");
    }
    assert_eq!(read.groups.as_deref(), Some("X-Forwarded-Groups"));
    assert_eq!(read.roles.of("MARA@example.org", ["support"]), Some(Role::Operate));
    assert_eq!(read.roles.of("ben@example.org", ["SUPPORT"]), Some(Role::Support));
    assert_eq!(read.show, ["data.plan", "data.shop.name"]);
}

#[test]
fn a_proxy_may_sign_whom_it_names() {
    let read = console(&format!("proxy = {{ {JWT} }}\ngroups = 'https://e.org/groups'"));
    let expected = JwtProxy {
        header: "Cf-Access-Jwt-Assertion".to_owned(),
        keys: "https://e.org/certs".to_owned(),
        issuer: "https://e.org".to_owned(),
        audience: "a1".to_owned(),
        claim: "email".to_owned(),
    };
    assert_eq!(read.proxy, Some(ConsoleProxy::Jwt(expected)));
    let named = console(&format!("proxy = {{ {JWT}, claim = 'sub' }}"));
    assert!(matches!(named.proxy, Some(ConsoleProxy::Jwt(proxy)) if proxy.claim == "sub"));
}

#[test]
fn each_fault_of_the_console_has_its_place() {
    let header = "header = 'X-User'";
    for (keys, column, reason, hint) in [
        ("url = 'console'", 7, "`console.url` is no http", "https://tidings"),
        ("url = 'https://e.org/v1/x'", 7, "other pages: `/v1`", "console"),
        ("url = 7", 7, "expected text", "https://tidings"),
        ("hosts = ['a.org', 'b.org:80']", 19, "`b.org:80` is not the name", "without scheme"),
        ("hosts = 'a.org'", 9, "expected a list", "names alone"),
        ("porxy = 1", 1, "unknown key `console.porxy`", "`proxy`"),
        ("proxy = 'x'", 9, "expected a table", "proxy = {"),
        ("proxy = {}", 1, "`console.proxy` lacks `header`", "`jwt`"),
        (&format!("proxy = {{ {header} }}"), 1, "lacks `trusted`", "10.0.0.7/32"),
        (&format!("proxy = {{ {header}, trusted = [] }}"), 40, "is empty", "10.0.0.7/32"),
        (
            &format!("proxy = {{ {header}, trusted = ['10.0.0.7/8'] }}"),
            41,
            "`10.0.0.7/8`",
            "`10.0.0.0/8`",
        ),
        (&format!("proxy = {{ {header}, trusted = ['fd00::1/8'] }}"), 41, "network", "`fd00::/8`"),
        (
            &format!("proxy = {{ {header}, trusted = ['10.0.0.0/33'] }}"),
            41,
            "network",
            "10.0.0.7/32",
        ),
        (
            &format!("proxy = {{ {header}, trusted = ['10.0.0.0/+8'] }}"),
            41,
            "network",
            "10.0.0.7/32",
        ),
        (
            &format!("proxy = {{ {header}, trusted = ['proxy.local'] }}"),
            41,
            "network",
            "10.0.0.7/32",
        ),
        (
            &format!("proxy = {{ {header}, trusted = ['::1'], keys = 'x' }}"),
            49,
            "unknown key",
            "known",
        ),
        (
            "proxy = { header = 'X User', trusted = ['::1'] }",
            20,
            "`X User` is not",
            "X-Forwarded-User",
        ),
        (&format!("proxy = {{ {header}, {JWT} }}"), 1, "a `header` and a `jwt`", "one of the two"),
        (
            &format!("proxy = {{ {JWT}, claim = '' }}"),
            125,
            "`console.proxy.claim` is empty",
            "quotes",
        ),
        ("groups = 'X-Groups'", 10, "that a proxy names", "add `proxy`"),
        (
            &format!("proxy = {{ {header}, trusted = ['::1'] }}\ngroups = 'a b'"),
            10,
            "cannot be `a b`",
            "claim",
        ),
        ("roles = { ann = 'opperate' }", 17, "cannot be `opperate`", "`operate`"),
        ("roles = { ann = 'root' }", 17, "cannot be `root`", "`figures`"),
        ("roles = { 'group:' = 'read' }", 11, "names no group", "group:NAME"),
        ("roles = { ann = 'read', ANN = 'admin' }", 11, "`ann` has a role already", "capitals"),
        ("roles = ['ann']", 9, "expected a table", "mara@"),
        ("show = ['plan']", 9, "`plan` is not a field", "data.plan"),
        ("show = ['data.']", 9, "`data.` is not a field", "data.plan"),
    ] {
        let found = faults(keys);
        assert_eq!(found.len(), 1, "{keys}: {found:?}");
        let (line, at, why, how) = &found[0];
        assert_eq!((*line, *at), (1 + keys.lines().count(), column), "{keys}: {found:?}");
        assert!(why.contains(reason) && how.contains(hint), "{keys}: {found:?}");
    }
}

#[test]
fn a_proxy_that_signs_needs_its_keys_issuer_and_audience() {
    let found = faults("proxy = { jwt = 'X-Token' }");
    let reasons: Vec<&str> = found.iter().map(|(.., reason, _)| &**reason).collect();
    let lacks = |key: &str| format!("`console.proxy` lacks `{key}`");
    assert_eq!(reasons, [lacks("keys"), lacks("issuer"), lacks("audience")]);
    assert!(found.iter().all(|(line, column, ..)| (*line, *column) == (2, 1)), "{found:?}");
    for (keys, part) in [
        ("keys = 'file:///certs', issuer = 'i', audience = 'a'", "no http or https URL"),
        ("keys = 'https://e.org', issuer = '', audience = 'a'", "issuer` is empty"),
        ("keys = 'https://e.org', issuer = 'i', audience = ''", "audience` is empty"),
    ] {
        let found = faults(&format!("proxy = {{ jwt = 'X-Token', {keys} }}"));
        assert!(found.len() == 1 && found[0].2.contains(part), "{keys}: {found:?}");
    }
}

#[test]
fn all_faults_of_the_console_come_at_once() {
    let found = faults("url = 'x'\nproxy = { header = 'A', trusted = [] }\nroles = { a = 'b' }");
    let lines: Vec<usize> = found.iter().map(|(line, ..)| *line).collect();
    assert_eq!(lines, [2, 3, 4]);
}

#[test]
fn settings_of_the_console_that_let_in_nobody_or_everybody_are_warned_of() {
    let warned = |keys: &str| {
        let rules = rules(&format!("[console]\n{keys}\n"));
        let warnings = warnings(&rules);
        warnings.into_iter().filter(|warning| warning.contains("[console]")).collect::<Vec<_>>()
    };
    let proxy =
        |trusted: &str| format!("proxy = {{ header = 'X-User', trusted = ['{trusted}'] }}\n");
    let roles = "roles = { ann = 'read' }";
    assert!(warned(&proxy("10.0.0.7"))[0].contains("no `roles`"));
    assert!(warned(roles)[0].contains("no `proxy`"));
    for trusted in ["0.0.0.0/0", "::/0"] {
        assert!(warned(&(proxy(trusted) + roles))[0].contains("every address"), "{trusted}");
    }
    for trusted in ["10.0.0.0/8", "fd00::/8", "::1"] {
        assert_eq!(warned(&(proxy(trusted) + roles)), Vec::<String>::new(), "{trusted}");
    }
}
