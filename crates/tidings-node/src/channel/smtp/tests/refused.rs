//! Outcomes of messages that the server refuses, by step.

use super::*;

#[test]
fn what_is_about_us_waits() {
    let at = |step: &str, says: &'static str| match step {
        "mail" => Script { mail: Says(says), ..FINE },
        "recipient" => Script { recipient: Says(says), ..FINE },
        _ => Script { dot: Says(says), ..FINE },
    };
    for (step, says, wanted) in [
        ("mail", "550 5.1.8 bad sender", Scope::Provider),
        ("mail", "550 5.7.1 blocked (S3150)", Scope::Provider),
        ("mail", "554 sender address is not verified", Scope::Provider),
        ("recipient", "550 5.4.5 Daily user sending limit exceeded", Scope::Provider),
        ("recipient", "550 5.7.1 policy", Scope::Destination),
        ("recipient", "550 5.7.1 <mx>: Helo command rejected: Host not found", Scope::Destination),
        ("dot", "550 5.7.26 unauthenticated email", Scope::Destination),
        ("dot", "550 5.7.515 Access denied, sending domain does not pass", Scope::Destination),
    ] {
        match exchange(at(step, says)) {
            Outcome::Away { scope, why, .. } => {
                assert_eq!(scope, wanted, "{why}");
                assert!(why.contains("check") || why.contains("wait"), "{why}");
            }
            outcome => panic!("{says}: {outcome:?}"),
        }
    }
}

#[test]
fn who_does_not_exist_at_rcpt_is_suppressed_as_in_a_report() {
    for (says, dead) in [
        ("550 No such user here", true),
        ("550 5.5.0 Requested action not taken: mailbox unavailable", true),
        ("550 5.4.1 Recipient address rejected: Access denied", true),
        ("550 5.1.1 RCP-P2 Refused due to recipient preferences", false),
        ("552 5.1.1 Recipient overquota", false),
    ] {
        let outcome = exchange(Script { recipient: Says(says), ..FINE });
        match outcome {
            Outcome::Failed { suppress, .. } => assert_eq!(suppress.is_some(), dead, "{says}"),
            Outcome::SoftBounce { is_permanent: true, .. } => assert!(!dead, "{says}"),
            outcome => panic!("{says}: {outcome:?}"),
        }
    }
}

#[test]
fn soft_refusals_at_smtp_of_a_mailbox_are_told_from_others() {
    let soft = |is_permanent| Some(is_permanent);
    for (says, wanted) in [
        ("552 5.2.2 mailbox full", soft(true)),
        ("452 4.2.2 mailbox full", soft(false)),
        ("450 4.2.0 greylisted", None),
        ("452 4.3.1 insufficient system storage", None),
        ("554 5.3.4 message too large", None),
    ] {
        for script in [Script { recipient: Says(says), ..FINE }, Script { dot: Says(says), ..FINE }]
        {
            let found = match exchange(script) {
                Outcome::SoftBounce { is_permanent, .. } => Some(is_permanent),
                _ => None,
            };
            assert_eq!(found, wanted, "{says}");
        }
    }
    let outcome = exchange(Script { mail: Says("552 5.2.2 mailbox full"), ..FINE });
    assert!(!matches!(outcome, Outcome::SoftBounce { .. }), "{outcome:?}");
}

#[test]
fn a14_answers_out_of_turn_are_the_servers_fault() {
    let outcome = exchange(Script { data: Says("250 fine"), ..FINE });
    assert!(matches!(outcome, Outcome::Away { .. }), "{outcome:?}");
    let outcome = exchange(Script { dot: Says("354 go on"), ..FINE });
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
}
