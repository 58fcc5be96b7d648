//! Several nodes over one database, with every fault that a network, a machine and a clock can have: who may write and
//! send, and what clients get. A build that is wrong in one place on purpose fails.
//!
//! A failing run prints its seed; `TIDINGS_SEED=n` plays that one alone, `TIDINGS_RUNS=n` plays more.

use tidings_node::election::Timing;
use tidings_sim::cluster::{
    ClusterRun, ClusterWorld, CommittingNode, NodeBody, SOUND, SimServer, play, play_seed,
};

/// A world in which nodes serve, shorter than one in which they only write.
const SERVED: ClusterWorld = ClusterWorld { faults_ms: 40_000, ..SOUND };

#[test]
fn what_was_acknowledged_is_everywhere_and_told_once_whatever_happens() {
    assert_eq!(play::<SimServer>(60, SERVED), Ok(()));
}

#[test]
fn one_node_at_a_time_writes_each_shard_and_sends_for_it_whatever_happens() {
    assert_eq!(play::<CommittingNode>(400, SOUND), Ok(()));
}

#[test]
fn a_store_of_one_shard_is_with_the_holder_of_the_lease() {
    assert_eq!(play::<CommittingNode>(100, ClusterWorld { shards: 1, ..SOUND }), Ok(()));
    assert_eq!(play::<SimServer>(10, ClusterWorld { shards: 1, ..SERVED }), Ok(()));
}

#[test]
fn with_fewer_shards_than_nodes_some_have_none() {
    let (shards, nodes) = (3, 5);
    let world = |world| ClusterWorld { shards, nodes, ..world };
    assert_eq!(play::<CommittingNode>(60, world(SOUND)), Ok(()));
    assert_eq!(play::<SimServer>(10, world(SERVED)), Ok(()));
}

#[test]
fn without_faults_the_first_holder_stays() {
    let world = ClusterWorld { faults: false, ..SOUND };
    for seed in 1..=20 {
        let mut sim = ClusterRun::<CommittingNode>::new(seed, world);
        sim.run();
        // It opens the store once with all shards, and again with those that it keeps. One node may be known to live
        // before the other one is.
        assert_eq!(sim.acquired, 2, "seed {seed}");
        assert!((2..=3).contains(&sim.granted.0), "seed {seed}");
        let mut sim = ClusterRun::<CommittingNode>::new(seed, ClusterWorld { shards: 1, ..world });
        sim.run();
        assert_eq!((sim.acquired, sim.granted.0), (1, 0), "seed {seed}");
    }
}

/// The reasons why a world fails, with a store of one shard and with one of several.
fn fails<B: NodeBody>(count: u64, world: ClusterWorld) -> [String; 2] {
    let why = |shards| play::<B>(count, ClusterWorld { shards, ..world });
    [1, 5].map(|shards| why(shards).expect_err("it is built wrong"))
}

#[test]
fn without_the_fence_an_old_holder_writes_over_a_new_one() {
    let fences = false;
    for why in fails::<CommittingNode>(400, ClusterWorld { fences, ..SOUND }) {
        assert!(why.contains("wrote after"), "{why}");
    }
    for why in fails::<SimServer>(60, ClusterWorld { fences, ..SERVED }) {
        println!("{why}");
    }
}

#[test]
fn over_a_database_that_loses_commits_acts_are_told_before_they_are_stored() {
    let world = ClusterWorld { keeps: false, ..SERVED };
    // In some worlds other losses are found first.
    let is_found = (1..=20).any(|seed| {
        let played = play_seed::<SimServer>(seed, world);
        played.is_err_and(|why| why.contains("told before they are stored"))
    });
    assert!(is_found);
}

/// Checks that two nodes send at once with a timing.
fn two_send(timing: fn() -> Timing) {
    for why in fails::<CommittingNode>(400, ClusterWorld { timing, ..SOUND }) {
        let is_told = why.contains("without a lease") || why.contains("send");
        assert!(is_told, "{why}");
    }
    for why in fails::<SimServer>(60, ClusterWorld { timing, ..SERVED }) {
        println!("{why}");
    }
}

#[test]
fn without_an_end_of_the_licence_two_nodes_send() {
    two_send(|| Timing { licence_ms: 60_000, ..Timing::default() });
}

#[test]
fn a_licence_that_outlives_the_watch_is_no_licence() {
    two_send(|| Timing { missed: 1, ..Timing::default() });
}
