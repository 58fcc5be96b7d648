use super::Timing;
use sim::{SOUND, Sim, World, play};

mod sim;

#[test]
fn one_node_at_a_time_writes_each_part_and_sends_for_it_whatever_happens() {
    assert_eq!(play(400, SOUND), Ok(()));
}

#[test]
fn a_store_of_one_part_is_with_the_holder_of_the_lease() {
    let world = World { parts: 1, ..SOUND };
    assert_eq!(play(100, world), Ok(()));
}

#[test]
fn with_fewer_parts_than_nodes_some_have_none() {
    let world = World {
        parts: 3,
        nodes: 5,
        ..SOUND
    };
    assert_eq!(play(60, world), Ok(()));
}

#[test]
fn without_faults_the_first_holder_stays() {
    let world = World {
        faults: false,
        ..SOUND
    };
    for seed in 1..=20 {
        let mut sim = Sim::new(seed, world);
        sim.run();
        // It opens the store once with all parts, and again with those that it keeps. One node may be known to live
        // before the other one is.
        assert_eq!(sim.acquired, 2, "seed {seed}");
        assert!((2..=3).contains(&sim.granted), "seed {seed}");
        let mut sim = Sim::new(seed, World { parts: 1, ..world });
        sim.run();
        assert_eq!((sim.acquired, sim.granted), (1, 0), "seed {seed}");
    }
}

#[test]
fn without_the_fence_an_old_holder_writes_over_a_new_one() {
    let world = World {
        fences: false,
        ..SOUND
    };
    for parts in [1, 5] {
        let why = play(400, World { parts, ..world }).unwrap_err();
        assert!(why.contains("wrote after"), "{why}");
    }
}

#[test]
fn without_an_end_of_the_licence_two_nodes_send() {
    let world = World {
        timing: || Timing {
            licence_ms: 60_000,
            ..Timing::default()
        },
        ..SOUND
    };
    for parts in [1, 5] {
        let why = play(400, World { parts, ..world }).unwrap_err();
        assert!(
            why.contains("without a lease") || why.contains("send"),
            "{why}"
        );
    }
}

#[test]
fn a_licence_that_outlives_the_watch_is_no_licence() {
    let world = World {
        timing: || Timing {
            missed: 1,
            ..Timing::default()
        },
        ..SOUND
    };
    for parts in [1, 5] {
        let why = play(400, World { parts, ..world }).unwrap_err();
        assert!(
            why.contains("without a lease") || why.contains("send"),
            "{why}"
        );
    }
}
