//! Tests of what says whether something is sent, and by which policy.

use tidings_core::rules::Policy;

use super::{refused, rules};

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
    refused(
        "[categories.c.channels]\nemail = { policy = 'soon' }",
        "cannot be `soon`",
    );
    // What all types of the category have is told once.
    refused(
        "[types.a]\ncategory = 'c'\nchannels.email = { policy = 'leading', quiet = '1m', lane = 'x' }\n\
         [types.b]\ncategory = 'd'\n[types.e]\ncategory = 'd'\n\
         [categories.c]\n[categories.d.channels]\nemail = { policy = 'now', lane = 'x' }",
        "the lane `x` of email cannot hold `now`: it holds `leading` for the type `a`",
    );
    refused(
        "[categories.c.channels]\n[types.a]\ncategory = 'c'",
        "lacks `channels`",
    );
}
