//! Tests of the host's books of words.

use std::path::Path;

use super::*;

/// Runs [`check`] on a configuration with some books of words; paths are relative to its directory.
fn checked(config: &str, books: &[(&str, &str)]) -> Result<CheckedConfig, Vec<String>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.toml");
    std::fs::write(&path, config).unwrap();
    std::fs::create_dir(directory.path().join("locales")).unwrap();
    for (name, text) in books {
        std::fs::write(directory.path().join("locales").join(name), text).unwrap();
    }
    let from_here = |text: String| text.replace(&format!("{}/", directory.path().display()), "");
    check(&path).map_err(|faults| {
        let json = faults.to_json();
        let rows = json.as_array().unwrap().iter();
        rows.map(|row| {
            let place = match row["line"].as_u64() {
                Some(line) => format!("{}:{line}:{}", row["file"].as_str().unwrap(), row["column"]),
                None => "-".to_owned(),
            };
            let [reason, hint] = ["reason", "hint"].map(|of| row[of].as_str().unwrap());
            from_here(format!("{place} {reason} | {hint}"))
        })
        .collect()
    })
}

#[test]
fn a_hosts_words_are_read_beside_the_configuration() {
    let german = "[site]\nundo = 'Zurück'\n";
    let books = [("de-AT.toml", german), ("zh-TW.toml", "comma = '、'"), (".note", "")];
    let rules = checked("", &books).unwrap().rules;
    let words = &rules.presentation.words;
    assert_eq!(words.keys().collect::<Vec<_>>(), ["de-at", "zh-hant-tw"]);
    assert_eq!(words["de-at"], german);
    // They go to other nodes with the rules.
    let json = serde_json::to_string(&rules).unwrap();
    let again: Rules = serde_json::from_str(&json).unwrap();
    assert_eq!(again, rules);
    assert_eq!(parse("", "t.toml").unwrap().presentation.words.len(), 0);
}

#[test]
fn each_fault_of_a_book_has_its_file_line_and_column() {
    let german = "comma = ', '\n\n[site]\nundoo = 'x'\nweekly = 3\nhours = ['a', 'b', 'c']\n";
    let faults = checked(
        "",
        &[
            ("de.toml", german),
            ("de_AT.toml", ""),
            ("german.txt", ""),
            ("no.toml", "comma = 'x'"),
            ("nb.toml", "comma = 'y'"),
            ("ja.toml", "comma = '"),
        ],
    );
    let faults = faults.unwrap_err();
    let expected = [
        "locales/de.toml:4:1 `site.undoo` is an unknown phrase | did you mean `undo`?",
        "locales/de.toml:5:10 `site.weekly` has the wrong type | write a text in quotes",
        "locales/de.toml:6:9 `site.hours` has 3 forms, but `de` has 2 | write one for each of one, other, in this order",
        "- locales/de_AT.toml: is not named after a locale | did you mean `de-AT.toml`?",
        "- locales/german.txt: is not named after a locale | call it TAG.toml, such as `de.toml`, or move it elsewhere",
        "locales/ja.toml:1:",
        "- locales/no.toml: second book of words for `no` | keep one of the two",
    ];
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault} should be {expected}");
    }
}

#[test]
fn a_fault_of_a_book_is_drawn_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.toml");
    std::fs::write(&path, "").unwrap();
    std::fs::create_dir(directory.path().join("locales")).unwrap();
    std::fs::write(directory.path().join("locales/de.toml"), "coloon = ''\n").unwrap();
    let drawn = check(&path).unwrap_err().to_string();
    let place = Path::new("locales").join("de.toml:1:1");
    assert!(drawn.contains(&place.display().to_string()), "{drawn}");
    assert!(
        drawn.contains("1 | coloon = ''") && drawn.contains("did you mean `colon`?"),
        "{drawn}"
    );
}

#[test]
fn check_warns_where_the_default_locale_lacks_words() {
    let greek = "[defaults]\nlocale = \"el\"\n[categories.c]\n[types.a]\ncategory = \"c\"\n[types.a.channels]\ninbox = { policy = \"now\" }\n";
    let warned = |books: &[(&str, &str)]| checked(greek, books).unwrap().warnings;
    let [none] = &warned(&[])[..] else { panic!("one warning") };
    assert!(none.contains("no words of its own in the default locale `el`"), "{none}");
    let [some] = &warned(&[("el.toml", "comma = '· '")])[..] else { panic!("one warning") };
    assert!(some.contains("the default locale `el` lacks tidings' own words `and`, "), "{some}");
    assert!(some.contains(" more: they are in English"), "{some}");
    let whole = include_str!("../../../tidings-mail/locales/en.toml");
    assert_eq!(warned(&[("el.toml", whole)]), Vec::<String>::new());
}

#[test]
fn titles_of_digests_take_locales() {
    let digest =
        "[digests.weekly]\nevery = \"day\"\ntitle = \"The week\"\n\"title.de\" = \"Die Woche\"\n";
    let rules = rules(digest);
    assert_eq!(rules.presentation.digest_titles["weekly"].0.len(), 2);
    refused(&digest.replace("title.de", "title.d_e"), "`d_e` is not a locale");
}
