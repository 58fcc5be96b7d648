use std::io::Read;
use std::path::PathBuf;

use proptest::prelude::*;

use crate::sets::geo_index::*;

/// Member by member, as the contract says it.
fn plain(places: &BTreeMap<u32, (f64, f64)>, near: &GeoCircle) -> RoaringBitmap {
    let within = |place: (f64, f64)| distance_km(place, (near.lat, near.lon)) <= near.km;
    places.iter().filter(|&(_, &place)| within(place)).map(|(number, _)| *number).collect()
}

fn filled(places: &BTreeMap<u32, (f64, f64)>) -> GeoIndex {
    let mut filled = GeoIndex::default();
    for (&number, &place) in places {
        filled.set(number, Some(place));
    }
    filled
}

fn place() -> impl Strategy<Value = (f64, f64)> {
    let corner = prop::sample::select(vec![-180.0, 180.0, 179.999_999, -179.999_999, 0.0, 90.0]);
    let high = prop::sample::select(vec![90.0, -90.0, 89.999_999, -89.999_999, 0.0, 45.0]);
    prop_oneof![
        3 => (-90.0..=90.0, -180.0..=180.0),
        3 => (52.0..53.0, 12.0..15.0),
        1 => (89.0..=90.0, -180.0..=180.0),
        1 => (-20.0..-15.0, 179.0..=180.0),
        1 => (-20.0..-15.0, -180.0..=-179.0),
        1 => (high, corner),
    ]
}

fn km() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(20_038.0), 0.0..1.0, 0.0..300.0, 0.0..20_038.0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn circles_hold_whom_the_plain_loop_finds(
        list in prop::collection::vec((0_u32..2000, place()), 0..400),
        moves in prop::collection::vec((0_u32..2000, prop::option::of(place())), 0..60),
        circles in prop::collection::vec((place(), km()), 1..12),
    ) {
        let mut expected: BTreeMap<u32, (f64, f64)> = list.into_iter().collect();
        let mut places = filled(&expected);
        for (number, place) in moves {
            places.set(number, place);
            match place {
                Some(place) => expected.insert(number, place),
                None => expected.remove(&number),
            };
        }
        let centres = expected.values().take(5).map(|&place| (place, 0.0)).collect::<Vec<_>>();
        for ((lat, lon), km) in circles.into_iter().chain(centres) {
            let near = GeoCircle { lat, lon, km };
            prop_assert_eq!(places.within(&near), plain(&expected, &near));
        }
        for number in 0..2000 {
            prop_assert_eq!(places.place_of(number), expected.get(&number).copied());
        }
    }
}

#[test]
fn distances_are_those_of_the_sphere() {
    let quarter = EARTH_RADIUS_KM * std::f64::consts::FRAC_PI_2;
    for (a, b, km) in [
        ((90.0, 0.0), (90.0, 135.0), 0.0),
        ((-90.0, -7.0), (-90.0, 180.0), 0.0),
        ((12.5, 180.0), (12.5, -180.0), 0.0),
        ((0.0, 0.0), (0.0, 90.0), quarter),
        ((0.0, 0.0), (90.0, 33.0), quarter),
        ((45.0, 10.0), (-45.0, -170.0), 2.0 * quarter),
        ((0.0, 179.5), (0.0, -179.5), quarter / 90.0),
    ] {
        let found = distance_km(a, b);
        assert!((found - km).abs() < 1e-6, "{a:?} to {b:?}: {found}, not {km}");
        assert_eq!(found.to_bits() == 0, km == 0.0);
    }
}

#[test]
fn a_circle_of_nothing_holds_its_centre_and_the_widest_holds_all() {
    let mut places = GeoIndex::default();
    places.set(1, Some((90.0, 20.0)));
    places.set(2, Some((48.85, 2.35)));
    places.set(3, Some((10.0, -180.0)));
    places.set(4, Some((91.0, 0.0)));
    places.set(5, Some((f64::NAN, 0.0)));
    let within =
        |lat, lon, km| places.within(&GeoCircle { lat, lon, km }).iter().collect::<Vec<_>>();
    assert_eq!(within(90.0, -77.0, 0.0), [1]);
    assert_eq!(within(48.85, 2.35, 0.0), [2]);
    assert_eq!(within(10.0, 180.0, 0.0), [3]);
    assert_eq!(within(-48.85, -177.65, 20_038.0), [1, 2, 3]);
    assert!(within(f64::NAN, 0.0, 20_038.0).is_empty());
    assert_eq!(places.place_of(4), None);
}

#[test]
fn cells_and_pages_that_nobody_lives_in_are_empty() {
    let mut places = GeoIndex::default();
    places.set(u32::MAX, Some((1.0, 2.0)));
    places.set(u32::MAX, Some((50.0, 60.0)));
    assert_eq!(places.cells.len(), 1);
    places.set(u32::MAX, None);
    assert_eq!((places.cells.len(), places.place_of(u32::MAX)), (0, None));
}

/// The cities of the given data, where it is there: latitude and longitude.
fn cities() -> Option<Vec<(f64, f64)>> {
    let shared = std::env::var_os("TIDINGS_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let Ok(packed) = std::fs::File::open(shared.join("data/geo/cities5000.csv.gz")) else {
        println!("skipped: the cities are not there");
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    // From the right, because names may hold commas: longitude, population, time zone.
    let place = |line: &str| {
        let mut fields = line.rsplit(',').skip(2);
        let lon = fields.next()?.parse().ok()?;
        Some((fields.next()?.parse().ok()?, lon))
    };
    Some(text.lines().skip(1).filter_map(place).collect())
}

#[test]
fn cities_are_found() {
    let Some(cities) = cities() else { return };
    assert_eq!(cities.len(), 69_472);
    let expected: BTreeMap<u32, (f64, f64)> = (0_u32..).zip(cities).collect();
    let places = filled(&expected);
    let mut found = 0;
    for (lat, lon) in [(48.8566, 2.3522), (-17.7134, 178.065), (64.1466, -21.9426), (90.0, 0.0)] {
        for km in [0.0, 5.0, 80.0, 500.0, 3_000.0, 12_000.0, 20_038.0] {
            let near = GeoCircle { lat, lon, km };
            let within = places.within(&near);
            assert_eq!(within, plain(&expected, &near), "{near:?}");
            found += within.len();
        }
    }
    assert!(found > 4 * 69_472);
}
