//! Chunks of facets against the segment that they describe.

use proptest::prelude::*;

use crate::index::facets::*;
use crate::journal::record::{About, Origin};
use crate::journal::stored::Segment;
use crate::model::batch_key::BatchKeys;
use crate::model::number::EventNo;
use crate::sets::set::Set;

/// An arrival with so many variants, in lanes of their own.
fn arrival((at, variants): (u64, u16)) -> Arc<StoredArrival> {
    let variant = |lane| Variant {
        lanes: vec![LaneNo(lane), LaneNo(9)],
        reasons: Vec::new(),
        elsewhere: Vec::new(),
        recipients: Set::default(),
    };
    Arc::new(StoredArrival {
        seq: Seq(1_000 + 3 * at),
        row: Seq(0),
        arrival: Arrival {
            at: Instant(0),
            t: Instant(50 * (at.cast_signed() % 700)),
            place: EventNo(7 * at),
            event: EventAt { day: Day(0), ordinal: 0 },
            type_no: TypeNo(2),
            rules: 1,
            keys: BatchKeys::default(),
            // Whole chunks have none, and whole chunks have some.
            tenant: (at > 700).then(|| TenantNo::of_raw(u32::try_from(at % 3).unwrap())).flatten(),
            origin: Origin::First,
            about: About { object: at % 10, pivot: (at % 3 == 0).then_some(at) },
            reasons: Vec::new(),
            variants: (0..variants).map(variant).collect(),
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_chunk_tells_of_its_ordinals_what_the_run_knows(
        variants in prop::collection::vec(1_u16..5, 1..1_500),
    ) {
        let arrivals: Vec<_> = (0..).zip(variants).map(arrival).collect();
        let segment = Segment::new(arrivals.clone());
        let ordinals = u32::try_from(segment.variants.len()).unwrap();
        let rows = rows(BucketNo(1), 2, &arrivals);
        let mut expected_keys = keys(BucketNo(1), 2, &arrivals);
        expected_keys.sort();
        let mut keys: Vec<_> = rows.iter().map(|(key, _)| key.clone()).collect();
        keys.sort();
        prop_assert_eq!(keys, expected_keys);

        let chunk = |number| {
            let key = facets_key(BucketNo(1), 2, number);
            &rows.iter().find(|(found, _)| *found == key).unwrap().1
        };
        let chunks = 0..=facets_chunk(ordinals - 1);
        let chunks: Vec<_> = chunks.map(|no| Facets::parse(chunk(no)).unwrap()).collect();
        for ordinal in 0..ordinals {
            let facets = &chunks[facets_chunk(ordinal) as usize];
            let (at, variant, kept, _) = segment.variant(ordinal).unwrap();
            let lane = LaneNo(u16::try_from(variant).unwrap());
            let wanted = facets.lane_sets(|lanes| lanes.contains(&lane));
            let found = facets.arrival(ordinal, &wanted).unwrap().unwrap();
            prop_assert_eq!(found, at as usize);
            let unwanted = facets.lane_sets(|lanes| !lanes.contains(&lane));
            prop_assert_eq!(facets.arrival(ordinal, &unwanted).unwrap(), None);
            prop_assert_eq!(facets.seq(found).unwrap(), kept.seq);
            prop_assert_eq!(facets.place(found).unwrap(), kept.arrival.place);
            prop_assert_eq!(facets.object(found).unwrap(), kept.arrival.about.object);
            let group = (TypeNo(2), kept.arrival.about.group());
            prop_assert_eq!(facets.group(found).unwrap(), group);
            prop_assert_eq!(facets.tenant(found).unwrap(), kept.arrival.tenant);
            let (first, last) = facets.bounds(found).unwrap();
            prop_assert!((first..=last).contains(&kept.arrival.t));
            if variant == 0 {
                let first = chunks.iter().find_map(|facets| facets.first_ordinal(kept.seq));
                prop_assert_eq!(first, Some(ordinal));
                prop_assert!(facets.arrivals_of(kept.arrival.place).eq([found]));
            }
        }
        let outside = chunks[0].arrival(1024, &[true; 16]);
        prop_assert!(outside.is_err());
    }
}
