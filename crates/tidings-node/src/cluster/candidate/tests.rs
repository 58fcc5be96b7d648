use std::sync::mpsc::{self, Sender as Tell};

use tidings_store::lease::{MemoryLeases, NodeId, Role};

use super::*;

/// Notes what a candidate does.
struct Noting {
    name: &'static str,
    tell: Tell<(&'static str, &'static str, i64)>,
    epoch: i64,
}

impl LeaseCallbacks for Noting {
    fn open(&mut self, term: Term) -> Result<OpenReport, String> {
        let Tenure::Lease(epoch) = term.tenure else {
            return Err("a store of one part has no shares".to_owned());
        };
        self.epoch = epoch.0;
        assert!(self.tell.send((self.name, "opens", self.epoch)).is_ok());
        Ok(OpenReport { lag: Box::new(|| 7), shards: 1 })
    }

    fn close(&mut self, drains: bool) {
        let what = if drains { "drains" } else { "closes" };
        assert!(self.tell.send((self.name, what, self.epoch)).is_ok());
    }
}

#[test]
fn who_leaves_hands_the_store_over() {
    let leases = MemoryLeases::new();
    let (tell, told) = mpsc::channel();
    let (members, membership) = mpsc::channel();
    let start = |id: i64, name: &'static str| {
        let callbacks = Noting { name, tell: tell.clone(), epoch: 0 };
        let members = members.clone();
        Candidate::start(
            Arc::new(leases.clone()),
            Member::new(NodeId(id), name),
            Box::new(callbacks),
            move |membership| drop(members.send(membership.clone())),
        )
        .unwrap()
    };
    let first = start(1, "first");
    assert_eq!(told.recv(), Ok(("first", "opens", 1)));
    let second = start(2, "second");
    let holds = |membership: &Membership| {
        membership.holder().map(|seen| seen.member.clone()).is_some_and(|member| {
            (member.role, member.lag_ms, member.id) == (Role::Holding, 7, NodeId(1))
        })
    };
    while !membership.recv().is_ok_and(|seen| holds(&seen)) {}
    // What was read again is known to all with the next heartbeat.
    second.configurer()("new".to_owned());
    let has_read = |membership: &Membership| {
        let config = |id| membership.member(NodeId(id)).map(|member| member.config.clone());
        (config(1), config(2)) == (Some(String::new()), Some("new".to_owned()))
    };
    while !membership.recv().is_ok_and(|seen| has_read(&seen)) {}
    assert!(first.leave(Duration::from_secs(60)));
    assert_eq!(told.recv(), Ok(("first", "drains", 1)));
    assert_eq!(told.recv(), Ok(("second", "opens", 2)));
    assert!(second.leave(Duration::from_secs(60)));
    assert_eq!(leases.membership().unwrap().members, []);
    assert_eq!(leases.membership().unwrap().lease.holder, None);
}
