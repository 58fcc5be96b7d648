//! Links to lists with their filters.

/// The URL of a page with parameters; `path` begins with a slash and is encoded.
pub(crate) fn link(base: &str, path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    let query = query.finish();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{base}{path}{mark}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_link_stay_values() {
        assert_eq!(link("/console", "/messages", &[]), "/console/messages");
        assert_eq!(
            link("", "/messages", &[("type", "a&b=c"), ("to", "+")]),
            "/messages?type=a%26b%3Dc&to=%2B"
        );
    }
}
