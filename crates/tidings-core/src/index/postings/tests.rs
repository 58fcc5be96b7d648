use proptest::prelude::*;

use crate::index::postings::*;

type Entries = Vec<(u32, u32)>;

/// All (recipient, ordinal), ascending, straight from the sets.
fn naive(sets: &[RoaringBitmap]) -> Entries {
    let mut entries: Entries = (0_u32..)
        .zip(sets)
        .flat_map(|(ordinal, set)| set.iter().map(move |member| (member, ordinal)))
        .collect();
    entries.sort_unstable();
    entries
}

fn built(sets: &[RoaringBitmap]) -> BTreeMap<u32, Vec<u8>> {
    build_blocks(&sets.iter().collect::<Vec<_>>())
}

fn read(blocks: &BTreeMap<u32, Vec<u8>>) -> Entries {
    let mut entries = Entries::new();
    for (key, bytes) in blocks {
        let block = PostingBlock::parse(bytes).unwrap();
        block
            .each(|_| true, |slot, ordinal| entries.push((key * 256 + u32::from(slot), ordinal)))
            .unwrap();
    }
    entries
}

fn sets() -> impl Strategy<Value = Vec<RoaringBitmap>> {
    let recipients = prop_oneof![Just(300_u32), Just(70_000), Just(u32::MAX)];
    recipients.prop_flat_map(|max| {
        let near = prop::collection::vec(0..300.min(max), 0..200);
        let far = prop::collection::vec(0..=max, 0..20);
        let set = (near, far).prop_map(|(near, far)| near.into_iter().chain(far).collect());
        prop::collection::vec(set, 0..40)
    })
}

/// Sets at a density, spread as evenly as multiplication spreads.
fn spread(arrivals: u32, recipients: u32, of_1000: u32) -> Vec<RoaringBitmap> {
    (0..arrivals)
        .map(|a| {
            let hit = |r: &u32| {
                let x = u64::from(a) << 32 | u64::from(*r);
                let x = (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let x = (x ^ x >> 32).wrapping_mul(0xff51_afd7_ed55_8ccd);
                (x >> 40) % 1000 < u64::from(of_1000)
            };
            (0..recipients).filter(hit).collect()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn indexed_nothing_is_lost_or_added(sets in sets()) {
        let blocks = built(&sets);
        let entries = naive(&sets);
        prop_assert_eq!(&read(&blocks), &entries);
        for (key, bytes) in &blocks {
            let block = PostingBlock::parse(bytes).unwrap();
            for slot in 0..=255_u8 {
                let number = key * 256 + u32::from(slot);
                let mut row = Vec::new();
                block.row(slot, &mut |ordinal| row.push((number, ordinal))).unwrap();
                let from = entries.partition_point(|&(one, _)| one < number);
                let to = entries.partition_point(|&(one, _)| one <= number);
                prop_assert_eq!(&row, &entries[from..to]);
            }
            let mut odd = Vec::new();
            block.each(|slot| slot % 2 == 1, |slot, _| odd.push(slot)).unwrap();
            prop_assert!(odd.iter().all(|slot| slot % 2 == 1));
        }
    }

    #[test]
    fn runs_joined_are_one_run(sets in sets(), cuts in prop::collection::vec(0_usize..40, 0..4)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(sets.len())).collect();
        cuts.extend([0, sets.len()]);
        cuts.sort_unstable();
        let segments: Vec<_> =
            cuts.windows(2).map(|cut| (built(&sets[cut[0]..cut[1]]), cut[0] as u32)).collect();
        let mut joined = BTreeMap::new();
        for (key, whole) in built(&sets) {
            let parts: Vec<(&[u8], u32)> = segments
                .iter()
                .filter_map(|(segment, offset)| Some((segment.get(&key)?.as_slice(), *offset)))
                .collect();
            let merged = merge_blocks(&parts).unwrap();
            // A last segment without a row here leaves no trace of its ordinals, nor need it.
            if PostingBlock::parse(&merged).unwrap().ordinals() == sets.len() as u32 {
                prop_assert_eq!(&merged, &whole);
            }
            joined.insert(key, merged);
        }
        prop_assert_eq!(read(&joined), naive(&sets));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, sets in sets(), at: prop::sample::Index, by: u8) {
        let mut damaged: Vec<Vec<u8>> = built(&sets).into_values().take(3).collect();
        for block in &mut damaged {
            let at = at.index(block.len());
            block[at] ^= by;
        }
        damaged.push(bytes);
        for bytes in &damaged {
            let Ok(block) = PostingBlock::parse(bytes) else { continue };
            let read = block.each(|_| true, |_, ordinal| assert!(ordinal < block.ordinals()));
            for slot in 0..=255 {
                let row = block.row(slot, &mut |_| ());
                prop_assert!(read.is_err() || row.is_ok());
            }
            prop_assert_eq!(merge_blocks(&[(bytes, 0), (bytes, block.ordinals())]).is_ok(),
                read.is_ok() && block.ordinals() <= u32::MAX / 2);
        }
    }
}

#[test]
fn rows_are_small() {
    for (of_1000, most) in [(12, 1.35), (500, 0.3), (1000, 0.15)] {
        let sets = spread(1000, 512, of_1000);
        let entries: u64 = sets.iter().map(RoaringBitmap::len).sum();
        let bytes: usize = built(&sets).values().map(Vec::len).sum();
        let each = bytes as f64 / entries as f64;
        assert!(each <= most, "{each} bytes an entry at {of_1000} of 1000");
    }
}

#[test]
fn long_rows_have_wide_lengths() {
    let everyone: RoaringBitmap = [0, 255, 70_000].into_iter().collect();
    for arrivals in [3_000, 600_000] {
        let sets = vec![&everyone; arrivals];
        let blocks = build_blocks(&sets);
        assert_eq!(blocks.keys().copied().collect::<Vec<_>>(), [0, 273]);
        let mut count = 0;
        PostingBlock::parse(&blocks[&0]).unwrap().row(255, &mut |_| count += 1).unwrap();
        assert_eq!(count, arrivals);
    }
}

#[test]
fn everybody_is_reached() {
    let mut everybody = RoaringBitmap::new();
    everybody.insert_range(0..200_000);
    let few: RoaringBitmap = [3, 65_535, 65_536, 199_999].into_iter().collect();
    let sets = [everybody, few];
    assert_eq!(read(&built(&sets)), naive(&sets));
}

#[test]
fn nothing_makes_no_block() {
    assert!(build_blocks(&[]).is_empty());
    assert!(build_blocks(&[&RoaringBitmap::new()]).is_empty());
    let empty = merge_blocks(&[]).unwrap();
    PostingBlock::parse(&empty)
        .unwrap()
        .each(|_| true, |_, _| panic!("an entry of nothing"))
        .unwrap();
}

#[test]
fn runs_that_overlap_are_refused() {
    let set: RoaringBitmap = [1].into_iter().collect();
    let block = build_blocks(&[&set, &set]).remove(&0).unwrap();
    assert!(merge_blocks(&[(&block, 0), (&block, 2)]).is_ok());
    assert!(merge_blocks(&[(&block, 0), (&block, 1)]).is_err());
    assert!(merge_blocks(&[(&block, u32::MAX)]).is_err());
}
