//! Look-up of time zones in the bundled database only, so that every machine gives the same answer.

use std::sync::LazyLock;

use jiff::tz::TimeZoneDatabase;

use crate::wording::nearest;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Tells whether this is the name of a zone of the IANA database, in its exact spelling.
#[must_use]
pub fn exists(name: &str) -> bool {
    // The library reads any case and has a placeholder zone; names are compared byte by byte here.
    name != "Etc/Unknown"
        && ZONES
            .get(name)
            .is_ok_and(|zone| zone.iana_name().is_some_and(|exact| exact == name))
}

/// A hint for a name that is not that of a zone.
#[must_use]
pub fn hint(name: &str) -> String {
    let names: Vec<String> = ZONES
        .available()
        .map(|zone| zone.as_str().to_owned())
        .collect();
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write a name of the IANA database, such as `Europe/Paris` or `UTC`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_names_of_the_database() {
        for name in [
            "UTC",
            "Europe/Paris",
            "America/New_York",
            "Pacific/Apia",
            "Asia/Kolkata",
        ] {
            assert!(exists(name), "{name}");
        }
        for name in [
            "",
            "utc",
            "europe/paris",
            "Europe/Pariss",
            "EST5EDT,M3.2.0,M11.1.0",
            "+01:00",
        ] {
            assert!(!exists(name), "{name}");
        }
        assert!(!exists("Etc/Unknown"));
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(hint("europe/paris"), "did you mean `Europe/Paris`?");
        assert_eq!(hint("America/NewYork"), "did you mean `America/New_York`?");
        assert!(hint("?").contains("IANA"));
    }
}
