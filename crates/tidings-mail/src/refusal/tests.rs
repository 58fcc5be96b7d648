use super::*;

/// Answers that providers document or were seen to give, each with the verdict wanted: see the column `note`.
const SHOWN: &str = include_str!("../../tests/refusals.tsv");

#[test]
fn refusals_are_judged_by_their_kind() {
    let (mut all, mut right, mut wrongly_gone) = (0, 0, Vec::new());
    for row in SHOWN.lines().skip(1) {
        let row: Vec<&str> = row.split('\t').collect();
        let [_, _, stage, code, status, text, wanted, ..] = row[..] else {
            panic!("{row:?}");
        };
        let stage = match stage {
            "connect" => Stage::Connect,
            "mail" => Stage::Mail,
            "rcpt" => Stage::Recipient,
            "data" | "dot" => Stage::Data,
            _ => Stage::Unknown,
        };
        let verdict = match judge(stage, code.parse().ok(), Status::find(status), text) {
            Verdict::Gone => "gone",
            Verdict::Soft => "soft",
            Verdict::Ours(_) => "ours",
        };
        all += 1;
        if verdict == wanted {
            right += 1;
        } else {
            println!("{verdict} for {wanted}: {text}");
            wrongly_gone.extend(Some(text).filter(|_| verdict == "gone"));
        }
    }
    println!("{right} of {all} refusals as wanted");
    assert!(right * 100 >= all * 95, "{right} of {all}");
    assert!(wrongly_gone.is_empty(), "{wrongly_gone:?}");
}

#[test]
fn what_is_about_us_is_never_held_against_an_address() {
    for (stage, code, status, text) in [
        (
            Stage::Recipient,
            550,
            "5.7.1",
            "<mx.example.com>: Helo command rejected: Host not found",
        ),
        (Stage::Recipient, 501, "", "Invalid domain name"),
        (
            Stage::Recipient,
            550,
            "",
            "Callback setup failed while verifying: user unknown",
        ),
        (
            Stage::Recipient,
            550,
            "5.1.8",
            "<a@example.com>: Sender address rejected: Domain not found",
        ),
        (
            Stage::Mail,
            550,
            "5.7.60",
            "SMTP; Client does not have permissions to send as this sender",
        ),
        (Stage::Mail, 550, "5.1.1", "User unknown"),
        (Stage::Connect, 554, "5.1.1", "no such user"),
        (
            Stage::Data,
            550,
            "5.7.26",
            "This mail has been blocked because the sender is unauthenticated",
        ),
    ] {
        let verdict = judge(stage, Some(code), Status::find(status), text);
        assert!(matches!(verdict, Verdict::Ours(_)), "{text}: {verdict:?}");
    }
}
