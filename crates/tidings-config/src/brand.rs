//! Warnings about `[brand]`: values that are valid and yet probably not intended.

use tidings_core::Rules;
use tidings_core::model::EMAIL;

/// Returns true if an address without TLS leads to this machine, where no one else reads the connection.
pub(super) fn is_of_this_machine(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let host = &rest[..end];
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    ["127.0.0.1", "localhost"].contains(&host)
}

/// The warnings about the brand.
pub(super) fn warnings(rules: &Rules) -> Vec<String> {
    let brand = &rules.presentation.brand;
    let sends = rules.channels.get(EMAIL).is_some_and(|email| !email.providers.is_empty());
    let mut optional =
        rules.types.values().filter(|kind| !kind.required && kind.channels.contains_key(EMAIL));
    let mut warnings = Vec::new();
    match brand.url.as_deref() {
        None if sends && optional.next().is_some() => warnings.push(
            "mails have no link to unsubscribe and no `List-Unsubscribe`: set `url` of [brand] to the address at \
             which recipients reach the server"
                .to_owned(),
        ),
        Some(url) if is_of_this_machine(url) => warnings.push(format!(
            "links in mails lead to `{url}`, which opens on this machine alone: set `url` of [brand] to an https \
             address before others get mails"
        )),
        _ => {}
    }
    for (key, logo) in [("logo", &brand.logo), ("logo_dark", &brand.logo_dark)] {
        let logo = logo.as_deref().unwrap_or_default();
        let path = logo.split(['?', '#']).next().unwrap_or_default();
        if path.to_ascii_lowercase().ends_with(".svg") {
            warnings.push(format!(
                "`{key}` of [brand] is an SVG, which Gmail and Outlook don't show: use a PNG or a JPEG"
            ));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {

    /// The warnings of a configuration with this `[brand]`, whose only type has this key.
    fn warnings(brand: &str, key: &str) -> String {
        let text = format!(
            "[brand]\n{brand}\n[channels.email]\nprovider = \"file:///tmp/sent\"\nfrom = \"a@example.org\"\n\
             [categories.c]\n[types.a]\ncategory = \"c\"\n{key}\n[types.a.channels]\nemail = {{ policy = \"now\" }}\n"
        );
        let rules = crate::parse(&text, "tidings.toml").unwrap_or_else(|faults| panic!("{faults}"));
        crate::warnings(&rules).join("\n")
    }

    #[test]
    fn mails_without_a_way_out_are_a_warning_where_one_may_leave() {
        assert!(warnings("", "").contains("no link to unsubscribe"));
        assert_eq!(warnings("", "required = true"), "");
        assert_eq!(warnings("url = \"https://example.org\"", ""), "");
    }

    #[test]
    fn a_logo_that_large_clients_do_not_show_is_a_warning() {
        let logo = |name: &str| {
            let brand = format!("url = \"https://e.org\"\nlogo = \"https://e.org/{name}\"");
            warnings(&brand, "")
        };
        assert!(logo("a.SVG?v=2").contains("is an SVG"));
        assert_eq!(logo("svg.png"), "");
        let dark = "url = \"https://e.org\"\nlogo_dark = \"https://e.org/a.svg\"";
        assert!(warnings(dark, "").starts_with("`logo_dark` of [brand] is an SVG"));
    }

    #[test]
    fn f15_links_may_lead_to_this_machine_and_to_no_other_without_tls() {
        for url in ["http://127.0.0.1:8990", "http://localhost:8990/n"] {
            let warned = warnings(&format!("url = \"{url}\""), "");
            assert!(warned.contains("on this machine alone"), "{url}: {warned}");
        }
        for url in
            ["http://example.org", "http://localhost.example.org", "http://127.0.0.1@example.org"]
        {
            let text = format!("[brand]\nurl = \"{url}\"");
            assert!(crate::parse(&text, "tidings.toml").is_err(), "{url}");
        }
    }

    #[test]
    fn logos_are_https_and_addresses_have_no_character_to_escape() {
        let is_taken = |line: &str| crate::parse(&format!("[brand]\n{line}"), "t").is_ok();
        for fine in ["logo = 'https://e.org/a%20b.png?v=2'", "url = 'https://e.org:8443/n'"] {
            assert!(is_taken(fine), "{fine}");
        }
        for (key, wrong) in [
            ("logo", "http://127.0.0.1/a.png"),
            ("logo_dark", "http://localhost/a.png"),
            ("logo", "https://e.org/a b.png"),
            ("logo", "https://e.org/a\\\"b.png"),
            ("url", "https://e.org/a\\\"b"),
            ("url", "https://e.org/a'b"),
            ("url", "http://127.0.0.1:8990/a'b"),
            ("url", "https://e.org/<b>"),
        ] {
            assert!(!is_taken(&format!("{key} = \"{wrong}\"")), "{key} {wrong}");
        }
    }

    #[test]
    fn a_day_in_full_is_answered_with_its_short_name() {
        let text = "[digests.d]\nevery = \"week\"\non = \"monday\"";
        let faults = crate::parse(text, "tidings.toml").unwrap_err();
        assert!(faults.to_string().contains("did you mean `mon`?"), "{faults}");
    }
}
