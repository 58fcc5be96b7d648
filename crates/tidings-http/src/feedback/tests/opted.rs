//! Readers who opt out at their provider and come back, and reports that come again, each in its signed form.

use ring::signature::EcdsaKeyPair;

use super::*;

/// A second after [`NOON`].
fn at(seconds_after: i64) -> i64 {
    NOON.parse::<i64>().unwrap() + seconds_after
}

fn instant(seconds_after: i64) -> String {
    Instant(at(seconds_after) * 1_000).to_string()
}

/// SendGrid's key, and how it signs.
struct SendGrid(EcdsaKeyPair);

impl SendGrid {
    fn new() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
    }

    /// The reports of a call about one event, signed at a second.
    fn call(&self, event: &Value, time: i64) -> Result<Vec<Reported>, Problem> {
        let (time, body) = (time.to_string(), json!([event]).to_string());
        let text = format!("{time}{body}");
        let signature = self.0.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        let headers = [
            ("x-twilio-email-event-webhook-timestamp", time),
            ("x-twilio-email-event-webhook-signature", STANDARD.encode(signature.as_ref())),
        ];
        let key = STANDARD.encode(self.0.public_key().as_ref());
        heard(&headers, &body, |call| sendgrid::read(call, &key))
    }
}

fn mailgun(tag: &str, event: &str, time: i64) -> Result<Vec<Reported>, Problem> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"key-1");
    let signed = hmac::sign(&key, format!("{time}t0").as_bytes());
    let body = json!({
        "signature": {"timestamp": time.to_string(), "token": "t0", "signature": tidings_mail::hex(signed.as_ref())},
        "event-data": {"event": event, "user-variables": {"tidings_message": tag}},
    });
    heard(&[], &body.to_string(), |call| mailgun::read(call, "key-1"))
}

/// A change of Postmark's list. What it says of one that ends names no message.
fn postmark(tag: &str, reason: Option<&str>, time: &str) -> Vec<Reported> {
    let metadata = match reason {
        Some(_) => json!({"tidings_message": tag}),
        None => json!({}),
    };
    let body = json!({
        "RecordType": "SubscriptionChange", "ChangedAt": time, "Recipient": "Ana@example.org",
        "Origin": "Recipient", "SuppressSending": reason.is_some(), "SuppressionReason": reason,
        "Tag": null, "Metadata": metadata,
    });
    let login = [("authorization", format!("Basic {}", STANDARD.encode("me:secret")))];
    let read = super::of_postmark;
    heard(&login, &body.to_string(), read).unwrap()
}

fn ses(tag: &str, preferences: &Value, time: &str) -> Result<Vec<Reported>, Problem> {
    let message = json!({
        "eventType": "Subscription",
        "mail": {"headers": [{"name": "X-Tidings-Message", "value": tag}]},
        "subscription": {"contactList": "news", "source": "UnsubscribeHeader", "newTopicPreferences": preferences},
    });
    let mut call = sns::call("Notification", &message);
    call["Timestamp"] = time.into();
    sns::read(&sns::certificates().0, &sns::signed(call))
}

#[test]
fn mail_3_what_a_provider_calls_permanent_is_not_if_it_is_about_us() {
    let details = |said: &str| {
        let body = json!({"RecordType": "Bounce", "Type": "HardBounce", "Details": said});
        let login = [("authorization", format!("Basic {}", STANDARD.encode("me:secret")))];
        let read = super::of_postmark;
        heard(&login, &body.to_string(), read).unwrap()[0].event
    };
    let diagnostic = |said: &str| {
        let message = json!({
            "eventType": "Bounce",
            "bounce": {"bounceType": "Permanent", "bouncedRecipients": [{"diagnosticCode": said}]},
        });
        let call = sns::signed(sns::call("Notification", &message));
        sns::read(&sns::certificates().0, &call).unwrap()[0].event
    };
    for (said, event) in [
        ("smtp; 550 5.1.1 user unknown", MailEvent::Gone),
        ("", MailEvent::Gone),
        (
            "smtp; 550 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org",
            MailEvent::Blocked,
        ),
        ("smtp; 550 5.7.26 unauthenticated email", MailEvent::Blocked),
    ] {
        assert_eq!((details(said), diagnostic(said)), (event, event), "{said}");
    }
}

/// The reasons of suppressed addresses.
fn listed(post: &Post) -> Vec<Value> {
    state(post).1
}

/// Says in turn that Ana wants no more and that she does again.
type Says<'s> = &'s dyn Fn(bool, i64) -> Vec<Reported>;

#[test]
fn field_13_who_opts_out_at_a_provider_hears_nothing_until_they_come_back() {
    let (post, tag) = sent();
    let sendgrid = SendGrid::new();
    let of = |event: &str, time: i64| {
        let event = json!({"event": event, "tidings_message": tag, "timestamp": time});
        sendgrid.call(&event, time).unwrap()
    };
    let names = |out: bool| ["group_resubscribe", "group_unsubscribe"][usize::from(out)];
    let topics = |out: bool| {
        let status = ["OptIn", "OptOut"][usize::from(out)];
        json!({"unsubscribeAll": false, "topicSubscriptionStatus": [
            {"topicName": "a", "subscriptionStatus": "OptIn"}, {"topicName": "b", "subscriptionStatus": status}]})
    };
    let providers: [Says<'_>; 4] = [
        &|out, time| of(names(out), at(time)),
        &|out, time| postmark(&tag, out.then_some("ManualSuppression"), &instant(time)),
        &|out, time| ses(&tag, &json!({"unsubscribeAll": out}), &instant(time)).unwrap(),
        &|out, time| ses(&tag, &topics(out), &instant(time)).unwrap(),
    ];
    for (provider, says) in (0..).zip(providers) {
        let start = -100 + 10 * provider;
        for (out, time) in [(true, 0), (false, 1), (true, 2)] {
            take(&post, says(out, start + time));
            let expected: Vec<Value> = out.then(|| json!("stop")).into_iter().collect();
            assert_eq!(listed(&post), expected, "{provider}");
        }
        // What comes again, and is older, changes nothing.
        take(&post, says(false, start + 1));
        assert_eq!(listed(&post), [json!("stop")], "{provider}");
        take(&post, says(false, start + 3));
        take(&post, says(true, start + 2));
        assert_eq!(listed(&post), [json!(null); 0], "{provider}");
    }
    take(&post, mailgun(&tag, "unsubscribed", at(-1)).unwrap());
    assert_eq!(listed(&post), [json!("stop")]);
    // It is said with the message as a complaint is, and coming back is not.
    assert!(state(&post).0.iter().all(|line| line.contains("complained")));
}

#[test]
fn field_13_coming_back_lifts_nothing_but_opting_out() {
    let (post, tag) = sent();
    let path = "/v1/suppressions/email/ana@example.org";
    for reason in ["manual", "complaint", "bounce", "gone"] {
        post.change(Method::PUT, path, &json!({"reason": reason}));
        take(&post, postmark(&tag, Some("ManualSuppression"), &instant(0)));
        take(&post, postmark(&tag, None, &instant(0)));
        assert_eq!(listed(&post), [json!(reason)]);
    }
    // Nor what Postmark says besides.
    for (said, reason) in [("HardBounce", "bounce"), ("SpamComplaint", "complaint")] {
        take(&post, postmark(&tag, Some(said), &instant(0)));
        take(&post, postmark(&tag, None, &instant(0)));
        assert_eq!(listed(&post), [json!(reason)]);
    }
}

#[test]
fn a12_what_an_operator_removed_stays_removed_when_a_report_comes_again() {
    let (post, tag) = sent();
    let sendgrid = SendGrid::new();
    let bounce = |time: i64| {
        let event = json!({
            "event": "bounce", "type": "bounce", "status": "5.1.1", "timestamp": at(time),
            "reason": "550 5.1.1 no such user", "tidings_message": tag,
        });
        sendgrid.call(&event, at(time)).unwrap()
    };
    let remove = || {
        let path = "/v1/suppressions/email/ana@example.org";
        post.change(Method::DELETE, path, &Value::Null);
    };
    let calls: [&dyn Fn() -> Vec<Reported>; 3] =
        [&|| bounce(-60), &|| mailgun(&tag, "complained", at(-50)).unwrap(), &|| {
            ses(&tag, &json!({"unsubscribeAll": true}), &instant(-40)).unwrap()
        }];
    for call in calls {
        // An operator removed nothing of it before.
        post.rig.at("2024-01-01T12:00:00Z");
        take(&post, call());
    }
    assert_eq!(listed(&post).len(), 1);
    remove();
    let before = state(&post);
    for call in calls {
        take(&post, call());
    }
    // Neither is it suppressed, nor does the message say twice what was said once.
    assert_eq!(state(&post), before);
    assert_eq!(before.1, [json!(null); 0]);
    // What happens later counts.
    post.rig.at("2024-01-01T12:10:00Z");
    // Calls are read at noon here: this one is of later.
    let later = bounce(1)
        .into_iter()
        .map(|report| Reported { at: Some(Instant(at(300) * 1_000)), ..report });
    take(&post, later.collect());
    assert_eq!(listed(&post), [json!("bounce")]);
}

#[test]
fn a12_calls_of_another_time_are_refused() {
    let sendgrid = SendGrid::new();
    let event = json!({"event": "delivered"});
    let day = 24 * 60 * 60;
    for (time, is_believed) in [
        (-day - 1, false),
        (-day, true),
        (0, true),
        (5 * 60, true),
        (5 * 60 + 1, false),
        (day, false),
    ] {
        let calls = [
            sendgrid.call(&event, at(time)).is_ok(),
            mailgun("", "delivered", at(time)).is_ok(),
            ses("", &json!({}), &instant(time)).is_ok(),
        ];
        assert_eq!(calls, [is_believed; 3], "{time}");
    }
    for odd in ["", "noon", "2024-01-01"] {
        assert!(ses("", &json!({}), odd).is_err(), "{odd}");
    }
}

#[test]
fn f14_a_maildir_that_is_not_there_is_named_with_the_way_to_make_it() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("bounces");
    let said = maildir::missing(&place).unwrap();
    let cure = format!("mkdir -p {0}/new {0}/cur {0}/tmp", place.display());
    assert!(said.contains(&cure), "{said}");
    for part in ["new", "cur", "tmp"] {
        let said = maildir::missing(&place).unwrap();
        assert!(said.contains(&format!("`{part}`")), "{said}");
        fs::create_dir_all(place.join(part)).unwrap();
    }
    assert_eq!(maildir::missing(&place), None);
}
