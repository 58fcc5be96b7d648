use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde::Deserialize;
use tidings_core::Instant;
use tidings_core::model::SlotDay;

use super::*;
use crate::words::books;
use crate::words::locale::Language;

/// Formats a value in a sentence of a locale for a reader.
fn formatted(format: &str, value: &str, text: &str, reader: (&str, &str)) -> Option<String> {
    formatted_in(format, value, None, text, reader)
}

fn formatted_in(
    format: &str,
    value: &str,
    currency: Option<&str>,
    text: &str,
    (locale, zone): (&str, &str),
) -> Option<String> {
    let format = Format::parse(format, |path| Some(vec![path.to_owned()])).unwrap();
    let reader = ReaderLocale::new(locale, zone);
    let text = tag::parsed(text);
    format.apply(value, currency, reader.locale_in(&text), &reader)
}

fn money(value: &str, currency: &str, locale: &str) -> Option<String> {
    formatted_in("money(x)", value, Some(currency), locale, (locale, "UTC"))
}

#[test]
fn i42_values_are_told_in_the_readers_locale_where_the_text_is_in_their_language() {
    for (text, reader, date) in [
        ("en", "en", "Mar 4, 2024"),
        ("en", "en-GB", "4 Mar 2024"),
        ("en-GB", "en-US", "Mar 4, 2024"),
        ("de", "de-AT", "04.03.2024"),
        ("de", "fr", "04.03.2024"),
        ("en", "ja", "Mar 4, 2024"),
        ("fa", "fa", "۱۴ اسفند ۱۴۰۲"),
        ("en", "fa", "Mar 4, 2024"),
        ("fa", "fa-AF", "۱۴ حوت ۱۴۰۲"),
        ("ar", "ar", "04\u{200f}/03\u{200f}/2024"),
        ("ar", "ar-EG", "٠٤\u{200f}/٠٣\u{200f}/٢٠٢٤"),
        ("th", "th", "4 มี.ค. 2567"),
        ("en", "en-u-ca-persian", "Esfand 14, 1402 AP"),
        ("nb", "no-NO", "4. mars 2024"),
        ("zh-Hant", "zh-TW", "2024年3月4日"),
    ] {
        let shown = formatted("date", "2024-03-04", text, (reader, "UTC"));
        assert_eq!(shown.as_deref(), Some(date), "{reader} reads {text}");
    }
    // Chinese of one script is not read as that of the other.
    let time = |text: &str| formatted("time", "15:05", text, ("zh-TW", "UTC")).unwrap();
    assert_eq!((time("zh"), time("zh-HK")), ("15:05".into(), "下午3:05".into()));
    // Nor is Serbian.
    let amount = |text: &str, reader: &str| {
        formatted_in("money(x)", "5", Some("BAM"), text, (reader, "UTC")).unwrap()
    };
    assert!(amount("sr", "sr-Latn").contains("КМ"), "{}", amount("sr", "sr-Latn"));
    assert!(amount("sr-Latn", "sr").contains("KM"), "{}", amount("sr-Latn", "sr"));
}

#[test]
fn i42_instants_go_into_the_readers_zone_and_other_times_stay() {
    let in_new_york =
        |format: &str, value: &str| formatted(format, value, "en", ("en", "America/New_York"));
    for (format, value, shown) in [
        ("datetime", "2024-03-04T03:30:00Z", "Mar 3, 2024, 10:30\u{202f}PM"),
        ("date", "2024-03-04T03:30:00Z", "Mar 3, 2024"),
        ("time", "2024-03-04T03:30:00Z", "10:30\u{202f}PM"),
        ("datetime", "2024-07-04T12:00:00.250+02:00", "Jul 4, 2024, 6:00\u{202f}AM"),
        ("datetime", "2024-03-04 03:30:00+05:30", "Mar 3, 2024, 5:00\u{202f}PM"),
        ("datetime", "2024-03-04T03:30:00", "Mar 4, 2024, 3:30\u{202f}AM"),
        ("datetime", "2024-03-04T03:30", "Mar 4, 2024, 3:30\u{202f}AM"),
        ("datetime", "2024-03-04 03:30", "Mar 4, 2024, 3:30\u{202f}AM"),
        ("date", "2024-03-04T03:30:00", "Mar 4, 2024"),
        ("date", "2024-03-04", "Mar 4, 2024"),
        ("time", "03:30", "3:30\u{202f}AM"),
        ("time", "23:59:59.5", "11:59\u{202f}PM"),
        ("date", "1066-10-14", "Oct 14, 1066"),
        ("date", "9999-12-31", "Dec 31, 9999"),
        ("datetime", "1969-12-31T23:00:00-05:00", "Dec 31, 1969, 11:00\u{202f}PM"),
        // The hour that is repeated and the hour that is skipped when clocks change.
        ("time", "2024-11-03T05:30:00Z", "1:30\u{202f}AM"),
        ("time", "2024-11-03T06:30:00Z", "1:30\u{202f}AM"),
        ("time", "2024-03-10T07:00:00Z", "3:00\u{202f}AM"),
        ("time", "2024-03-10T02:30", "2:30\u{202f}AM"),
    ] {
        assert_eq!(in_new_york(format, value).as_deref(), Some(shown), "{format} {value}");
    }
    let nowhere = formatted("time", "2024-03-04T03:30:00Z", "en-GB", ("en-GB", "Nowhere/At_All"));
    assert_eq!(nowhere.as_deref(), Some("03:30"));
}

#[test]
fn i42_what_is_neither_or_lacks_what_is_shown_stays_as_given() {
    for (format, value) in [
        ("time", "2024-03-04"),
        ("datetime", "2024-03-04"),
        ("date", "09:00"),
        ("datetime", "09:00"),
        ("time", "09:00Z"),
        ("time", "09:00+02:00"),
        ("time", "09:00[Europe/Paris]"),
        ("datetime", "2024-03-04T09:00[Europe/Paris]"),
        ("datetime", "9999-12-31T23:59:59+00:00"),
        ("date", "-000044-03-15"),
        ("date", "+012024-03-04"),
        ("date", "tomorrow"),
        ("date", "20240304"),
        ("date", "1709542800"),
        ("date", "2024-02-30"),
        ("date", "2024-03-04T25:00"),
        ("date", "2024-03"),
        ("date", "2024-03-04x"),
        ("date", "2024-03-0\u{663}"),
        ("time", "9:00"),
        ("time", "0900"),
        ("number", "12,5"),
        ("number", "007"),
        ("number", "+1"),
        ("number", "1."),
        ("number", "0x10"),
        ("number", "NaN"),
        ("number", "1e400"),
        ("number", "true"),
        ("number", ""),
    ] {
        assert_eq!(formatted(format, value, "en", ("en", "UTC")), None, "{format} {value}");
    }
    let long = "1".repeat(65);
    assert_eq!(formatted("number", &long, "en", ("en", "UTC")), None);
    assert_eq!(formatted_in("money(x)", "12.5", None, "en", ("en", "UTC")), None);
    assert_eq!(money("a lot", "EUR", "en"), None);
}

#[test]
fn i42_numbers_have_the_digits_and_groups_of_the_locale() {
    for (value, locale, shown) in [
        ("1234567.891", "en", "1,234,567.891"),
        ("1234567.891", "de", "1.234.567,891"),
        ("1234567.891", "de-CH", "1'234'567.891"),
        ("1234567.891", "en-IN", "12,34,567.891"),
        ("1234", "es", "1234"),
        ("12345", "es", "12.345"),
        ("1234.5", "fa", "۱٬۲۳۴٫۵"),
        ("1234.5", "ar-EG", "١٬٢٣٤٫٥"),
        ("-3", "sv", "\u{2212}3"),
        ("0.12345", "en", "0.123"),
        ("0.0625", "en", "0.063"),
        ("2.50", "en", "2.5"),
        ("1e21", "en", "1,000,000,000,000,000,000,000"),
        ("1E-2", "en", "0.01"),
        ("1e-300", "en", "0"),
        ("2024", "en", "2,024"),
        ("1234567", "xx", "1,234,567"),
    ] {
        let shown = Some(shown.to_owned());
        assert_eq!(formatted("number", value, locale, (locale, "UTC")), shown, "{locale} {value}");
    }
}

#[test]
fn i42_money_takes_units_and_has_cldrs_digits_and_symbols() {
    for (value, currency, locale, shown) in [
        ("12.5", "EUR", "en", "€12.50"),
        ("12.50", "EUR", "de", "12,50\u{a0}€"),
        ("1250", "eur", "en", "€1,250.00"),
        ("12.5", "USD", "en", "$12.50"),
        ("12.5", "USD", "en-CA", "US$12.50"),
        ("12.5", "USD", "en-AI", "US$12.50"),
        ("12.5", "MXN", "es-MX", "$12.50"),
        ("12.5", "CHF", "en", "CHF\u{a0}12.50"),
        ("-12.5", "CHF", "de-CH", "CHF-12.50"),
        ("12.5", "JPY", "ja", "￥13"),
        ("12.5", "JPY", "en", "¥13"),
        ("12.5", "KWD", "en", "KWD\u{a0}12.500"),
        ("-1234.5", "USD", "en", "-$1,234.50"),
        ("1234.5", "EUR", "de-AT", "€\u{a0}1.234,50"),
        ("1234.5", "EUR", "es", "1234,50\u{a0}€"),
        ("1.005", "USD", "en", "$1.01"),
        ("1234.5", "XYZ", "en", "1,234.5\u{a0}XYZ"),
        ("0.00012345", "BTC", "de", "0,00012345\u{a0}BTC"),
        ("5", "points", "en", "5\u{a0}points"),
    ] {
        let shown = Some(shown.to_owned());
        assert_eq!(money(value, currency, locale), shown, "{locale} {value} {currency}");
    }
}

#[test]
fn dates_of_messages_are_those_of_the_recipient() {
    let calendar = |locale: &str, zone: &str, sent: Instant| {
        let language = Language::of(locale).for_reader(ReaderLocale::new(locale, zone));
        Calendar::new(sent, &language)
    };
    let sent = Instant::parse("2024-03-03T23:30:00Z").unwrap();
    for (locale, date) in [
        ("en", "Monday, March 4, 2024 at 12:30\u{202f}AM"),
        ("en-GB", "Monday, 4 March 2024 at 00:30"),
        ("de", "Montag, 4. März 2024 um 00:30"),
        ("fr", "lundi 4 mars 2024 à 00:30"),
        ("he", "יום שני, 4 במרץ 2024 בשעה 0:30"),
        ("ja", "2024年3月4日月曜日 0:30"),
        ("fa", "دوشنبه ۱۴ اسفند ۱۴۰۲ ساعت ۰:۳۰"),
        // Words that there are not stand in English, and so do dates.
        ("el", "Monday, March 4, 2024 at 12:30\u{202f}AM"),
    ] {
        assert_eq!(calendar(locale, "Europe/Paris", sent).minute(sent), date, "{locale}");
    }
    assert_eq!(calendar("en", "Europe/Paris", sent).zone_name(), "Paris time");
    let new_york = calendar("en", "America/New_York", sent);
    assert_eq!(new_york.day(sent), "March 3");
    assert_eq!(new_york.zone_name(), "New York time");
    let old = Instant::parse("1964-10-06T12:00:00Z").unwrap();
    assert_eq!(new_york.day(old), "October 6, 1964");
    let nowhere = calendar("en", "Nowhere/At_All", sent);
    assert_eq!(
        (nowhere.full_day(sent), nowhere.zone_name()),
        ("Sunday, March 3, 2024".into(), "UTC".into())
    );
    for at in [Instant::MIN, Instant::MAX, Instant(i64::MIN), Instant(i64::MAX)] {
        for locale in ["en", "fa", "th", "ar-SA"] {
            assert!(!calendar(locale, "Pacific/Kiritimati", at).minute(at).is_empty());
        }
    }
}

#[test]
fn days_and_times_of_digests_are_in_the_words_of_a_locale_and_gregorian() {
    let days = [SlotDay::Week(1), SlotDay::Week(7), SlotDay::Month(1), SlotDay::Month(31)];
    for (locale, named, times) in [
        ("en", "Monday, Sunday, 1, 31", "12:00\u{202f}AM, 9:15\u{202f}AM, 5:15\u{202f}PM"),
        ("en-GB", "Monday, Sunday, 1, 31", "00:00, 09:15, 17:15"),
        ("de", "Montag, Sonntag, 1, 31", "00:00, 09:15, 17:15"),
        ("fa", "دوشنبه, یکشنبه, ۱, ۳۱", "۰:۰۰, ۹:۱۵, ۱۷:۱۵"),
        ("ja", "月曜日, 日曜日, 1日, 31日", "0:00, 9:15, 17:15"),
    ] {
        let parsed = tag::parsed(locale);
        assert_eq!(slot_days(&days, &parsed).join(", "), named, "{locale}");
        assert_eq!(clock_times(&[0, 555, 1035], &parsed).join(", "), times, "{locale}");
    }
    // What no calendar has is written all the same.
    let odd = [SlotDay::Month(0), SlotDay::Month(32)];
    assert_eq!(slot_days(&odd, &tag::parsed("en")), ["0", "32"]);
    assert_eq!(clock_times(&[1440], &tag::parsed("en")), ["24:00"]);
}

#[test]
fn i42_a_message_counts_with_the_digits_of_its_readers_locale() {
    let count = |locale: &str, reader: &str| {
        let words = Language::of(locale).for_reader(ReaderLocale::new(reader, "UTC")).words;
        words.counted(&words.new, 1_234_567)
    };
    for (locale, reader, formatted) in [
        ("en", "en-GB", "1,234,567 new"),
        ("en", "en-IN", "12,34,567 new"),
        ("de", "de-AT", "1\u{a0}234\u{a0}567 neu"),
        ("en", "de-AT", "1,234,567 new"),
        ("fa", "fa", "۱٬۲۳۴٬۵۶۷ مورد جدید"),
    ] {
        assert_eq!(count(locale, reader), formatted, "{reader} reads {locale}");
    }
    assert!(count("ar", "ar-EG").contains("١٬٢٣٤٬٥٦٧"));
    assert!(count("ar", "ar").contains("1,234,567"));
}

proptest! {
    /// Formatting never fails, and its output is bounded.
    #[test]
    fn i42_no_value_is_too_odd(
        value in "[-+0-9TZ:. eE/]{0,30}|\\PC{0,30}|-?[0-9]{1,6}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?)?",
        currency in "[A-Za-z]{0,4}|\\PC{0,5}",
        locale in prop::sample::select(&["en", "ar-EG", "fa", "th", "ar-SA", "zh-TW", "en-u-ca-hebrew-nu-thai", "xx", "?"][..]),
    ) {
        for format in ["date", "time", "datetime", "number", "money(x)"] {
            let formatted = formatted_in(format, &value, Some(&currency), locale, (locale, "Pacific/Apia"));
            prop_assert!(formatted.is_none_or(|formatted| !formatted.is_empty() && formatted.len() < 4_096));
        }
    }
}

/// Writes the values that are compared with `Intl`, as rows of locale, format, value, currency, and the output of `Intl`.
const SCRIPT: &str = r"
const rows = [];
const add = (locale, format, value, currency, shown) => rows.push([locale, format, value, currency, shown]);
const dates = ['1999-12-31', '2000-02-29', '2026-01-09'];
for (let month = 1; month <= 12; month++) dates.push(`2024-${String(month).padStart(2, '0')}-04`);
const times = ['00:05', '05:30', '09:00', '11:59', '12:00', '12:30', '15:05', '18:00', '21:30', '23:59'];
const numbers = ['0', '1', '-1', '12', '999', '1000', '-1000', '1234.5', '10000', '99999.9995', '1234567.891', '0.0004',
  '-0.5', '123456789012'];
const amounts = ['0', '12.5', '-12.5', '999.99', '1234.5', '-1234567.891'];
for (const locale of process.argv.slice(1)) {
  const timeZone = 'UTC';
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone });
  const both = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  for (const day of dates) add(locale, 'date', day, '', date.format(new Date(`${day}T00:00:00Z`)));
  for (const at of times) {
    const instant = `2024-03-04T${at}:00Z`;
    add(locale, 'time', instant, '', time.format(new Date(instant)));
    add(locale, 'datetime', instant, '', both.format(new Date(instant)));
  }
  for (const number of numbers) add(locale, 'number', number, '', new Intl.NumberFormat(locale).format(number));
  for (const currency of Intl.supportedValuesOf('currency')) {
    const money = new Intl.NumberFormat(locale, { style: 'currency', currency });
    for (const amount of amounts) add(locale, 'money(x)', amount, currency, money.format(amount));
  }
}
console.log(JSON.stringify({ cldr: process.versions.cldr, rows }));
";

/// The version of CLDR in Node 20.
const CLDR: &str = "48";

/// The differences between CLDR 48, which Node 20 has, and 49, which ICU4X 2.4 has, for the same pattern or name: locale,
/// format, what 49 says.
const DIFFERENCES: [(&str, &str, &str); 15] = [
    ("es", "time", "hours have two digits"),
    ("es", "datetime", "hours have two digits"),
    ("es-MX", "time", "hours have two digits"),
    ("es-MX", "datetime", "hours have two digits"),
    ("ko", "date", "slashes in place of points"),
    ("ko", "time", "halves of the day in Korean"),
    ("ko", "datetime", "both"),
    ("en-AU", "date", "June and July are shortened"),
    ("en-IN", "date", "days have two digits"),
    ("en-IN", "time", "halves of the day in capitals"),
    ("en-IN", "datetime", "both"),
    ("fr-CH", "number", "apostrophes between groups"),
    ("fr-CH", "money(x)", "apostrophes between groups"),
    ("zh-Hant-HK", "time", "parts of the day in place of halves"),
    ("zh-Hant-HK", "datetime", "parts of the day in place of halves"),
];

#[derive(Deserialize)]
struct Compared {
    cldr: String,
    rows: Vec<(String, String, String, String, String)>,
}

/// Compares all locales that have words, and some of regions, with `Intl` of Node 20. Without a Node the test says that it
/// is skipped, but with `TIDINGS_REQUIRE_SERVERS` set it fails.
#[test]
fn i42_values_are_those_of_intl() {
    const OF_REGIONS: [&str; 16] = [
        "en-GB",
        "en-IN",
        "en-CA",
        "en-AU",
        "de-AT",
        "de-CH",
        "fr-CA",
        "fr-CH",
        "it-CH",
        "es-MX",
        "pt-PT",
        "nl-BE",
        "ar-EG",
        "ar-AE",
        "fa-AF",
        "zh-Hant-HK",
    ];
    let locales = books::TAGS.into_iter().chain(OF_REGIONS);
    let ran =
        Command::new("node").args(["-e", SCRIPT]).args(locales).stderr(Stdio::inherit()).output();
    let is_required = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
    let Ok(output) = ran else {
        assert!(!is_required, "there is no node");
        println!("skipped: it takes node");
        return;
    };
    let compared: Compared = serde_json::from_slice(&output.stdout).unwrap();
    if compared.cldr.split('.').next() != Some(CLDR) {
        // What another version of CLDR says is not compared.
        println!("skipped: it takes a node with CLDR {CLDR}");
        return;
    }
    assert!(compared.rows.len() > 24 * 1_000, "{}", compared.rows.len());
    let mut faults = Vec::new();
    let mut differ = std::collections::BTreeSet::new();
    for (locale, format, value, currency, intl) in &compared.rows {
        let ours = formatted_in(format, value, Some(currency), locale, (locale, "UTC"));
        // V8 writes a plain space in place of the narrow one of CLDR, for pages that took times apart.
        let is_date = ["date", "time", "datetime"].contains(&&**format);
        let ours = if is_date { ours.map(|text| text.replace('\u{202f}', " ")) } else { ours };
        if ours.as_ref() == Some(intl) {
            continue;
        }
        match DIFFERENCES.iter().find(|known| known.0 == locale && known.1 == format) {
            Some(known) => {
                differ.insert((known.0, known.1));
            }
            None => faults
                .push(format!("{locale} {format} {value} {currency}: {ours:?}, Intl {intl:?}")),
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
    let known: std::collections::BTreeSet<_> =
        DIFFERENCES.iter().map(|known| (known.0, known.1)).collect();
    assert_eq!(differ, known, "a difference is no more");
}
