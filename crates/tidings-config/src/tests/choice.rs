//! Tests of what says whether something is sent, and by which policy.

use tidings_core::rules::{Admission, AdmissionKeyPart, Policy};

use super::{email, reasons, refused, rules};

#[test]
fn a_type_has_the_channels_of_its_category_that_it_does_not_name() {
    let rules = rules(
        "[digests.d]\nevery = 'day'\n\
         [categories.c.channels]\ninbox = { policy = 'now' }\n\
         email = { policy = 'cooldown', quiet = '4m', lane = 'talk', batch_key = 'event.target.id' }\n\
         [types.plain]\ncategory = 'c'\n\
         [types.own]\ncategory = 'c'\nchannels.email = { policy = 'digest', digest = 'd' }\n\
         [types.empty]\ncategory = 'c'\n[types.empty.channels]\n",
    );
    let plain = &rules.types["plain"].channels;
    assert_eq!(plain["inbox"].policy, Policy::Now);
    assert_eq!(plain["email"].lane.as_deref(), Some("talk"));
    let key = plain["email"].batch_key.as_deref();
    assert_eq!(key, Some("event.target.id"));
    assert_eq!(&rules.types["empty"].channels, plain);
    // A channel that the type names is the type's own, the whole of it.
    let own = &rules.types["own"].channels;
    assert_eq!(own["inbox"].policy, Policy::Now);
    assert_eq!(own["email"].lane, None);
    assert_eq!(own["email"].batch_key, None);
}

#[test]
fn the_channels_of_a_category_are_checked_in_their_place() {
    refused("[categories.c.channels]\nemail = { policy = 'soon' }", "cannot be `soon`");
    // What all types of the category have is told once.
    refused(
        "[types.a]\ncategory = 'c'\nchannels.email = { policy = 'leading', quiet = '1m', lane = 'x' }\n\
         [types.b]\ncategory = 'd'\n[types.e]\ncategory = 'd'\n\
         [categories.c]\n[categories.d.channels]\nemail = { policy = 'now', lane = 'x' }",
        "the lane `x` of email cannot hold `now`: it holds `leading` for the type `a`",
    );
    refused("[categories.c.channels]\n[types.a]\ncategory = 'c'", "lacks `channels`");
}

#[test]
fn a_condition_is_an_expression_that_is_true_or_false() {
    let with = |condition: &str| {
        let line = format!("[types.a]\ncondition = \"{condition}\"");
        email("{ policy = 'now' }").replace("[types.a]", &line)
    };
    for condition in [
        "event.data.amount > 100 && object.data.status != 'paid'",
        "recipient.locale.startsWith('de') || has(target.id)",
        "now - event.t < duration('1h')",
        "event.data.urgent",
    ] {
        let rules = rules(&with(condition));
        assert_eq!(rules.types["a"].condition.as_deref(), Some(condition));
    }
    for (condition, part) in [
        ("event.data.amount", None),
        ("recipient.name == 'ada'", Some("unknown field `name`")),
        ("sender.id == 'ada'", Some("unknown name `sender`")),
        ("event.id", Some("the expression is a text")),
        ("event.id > 3", Some("the operator is not for values of these types")),
        ("now > '2024-01-01'", Some("the operator is not for values of these types")),
        ("object.id.size", Some("only objects have fields")),
        ("!recipient.tz", Some("`!` is for true and false")),
        ("event.type == 'a' && 1", Some("`&&` and `||` are for true and false")),
        ("size(now) > 1", Some("it takes one value")),
    ] {
        match part {
            None => assert!(rules(&with(condition)).types["a"].condition.is_some()),
            Some(part) => {
                let found = reasons(&with(condition));
                assert_eq!(found.len(), 1, "{condition}: {found:?}");
                assert_eq!(found[0].0, 5, "{condition}");
                assert!(found[0].1.contains(part), "{condition}: {found:?}");
            }
        }
    }
    let no_text = email("{ policy = 'now' }").replace("[types.a]", "[types.a]\ncondition = true");
    refused(&no_text, "expected text");
}

#[test]
fn admissions_are_read() {
    for (line, admission, per) in [
        ("", Admission::Always, AdmissionKeyPart::Type),
        ("admission = 'once_pending'", Admission::OncePending, AdmissionKeyPart::Type),
        ("admission = 'once_ever'\nper = 'object'", Admission::OnceEver, AdmissionKeyPart::Object),
        ("admission = 'last_only'\nper = 'target'", Admission::LastOnly, AdmissionKeyPart::Target),
    ] {
        let text = email("{ policy = 'now' }").replace("[types.a]", &format!("[types.a]\n{line}"));
        let rules = rules(&text);
        assert_eq!((rules.types["a"].admission, rules.types["a"].per), (admission, per));
    }
}
