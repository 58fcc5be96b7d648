//! Streams of events: answered line by line, and read as fast as they can be made durable.

use super::*;

#[test]
fn a_stream_is_answered_line_by_line() {
    // Slices of two, so that there are several.
    let settings = Settings { slice_lines_max: 2, ..Settings::default() };
    let rig = Rig::with(CONFIG, Access::Open, settings);
    person(&rig, "ann");
    let mut body = String::new();
    for n in 0..5 {
        body.push_str(&format!("{}\n", event(Some(&format!("e{n}")), "ann")));
    }
    body.push_str(
        "\n{\"type\": }\n{\"id\": \"bad\", \"type\": \"nota\", \"object\": {\"id\": \"a\"}, \"to\": {}}\n",
    );
    body.push_str(&event(Some("e0"), "ann").to_string());
    let answer = rig.send(Method::POST, "/v1/events", &[NDJSON], body.clone());
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    let answers = lines(&answer);
    assert_eq!(answers.len(), 8);
    for (n, answer) in answers[..5].iter().enumerate() {
        assert_eq!(answer["id"], format!("e{n}"));
        assert_eq!(answer["status"], "accepted");
        assert_eq!(answer["line"], n + 1);
    }
    assert_eq!(
        (&answers[5]["line"], &answers[5]["problem"]["code"]),
        (&json!(7), &json!("invalid_json"))
    );
    assert_eq!(
        (&answers[6]["line"], &answers[6]["problem"]["code"]),
        (&json!(8), &json!("unknown_type"))
    );
    assert_eq!((&answers[6]["id"], &answers[6]["status"]), (&json!("bad"), &json!("rejected")));
    // The blank line is counted and not answered.
    assert_eq!((&answers[7]["line"], &answers[7]["status"]), (&json!(9), &json!("duplicate")));

    let quiet = rig.send(Method::POST, "/v1/events?answers=problems", &[NDJSON], body);
    let answers = lines(&quiet);
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[2], json!({"lines": 8, "done": 6, "problems": 2}));
    assert!(rig.send(Method::POST, "/v1/events", &[NDJSON], "").bytes.is_empty());
}

#[test]
fn a_stream_answers_what_has_come_before_more_comes() {
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;
    let rig = Rig::new();
    person(&rig, "ann");
    let (send, mut receive) = tokio::sync::mpsc::channel::<Bytes>(1);
    let body = futures_util::stream::poll_fn(move |context| {
        receive.poll_recv(context).map(|piece| piece.map(Ok::<_, std::io::Error>))
    });
    let line = |id: &str| Bytes::from(format!("{}\n", event(Some(id), "ann")));
    let request = Request::post("/v1/events")
        .header(NDJSON.0, NDJSON.1)
        .body(Body::from_stream(body))
        .unwrap();
    let router = crate::router(std::sync::Arc::clone(&rig.service));
    rig.tokio.block_on(async move {
        let talk = async {
            send.send(line("e1")).await.unwrap();
            let mut answers = router.oneshot(request).await.unwrap().into_body();
            for next in ["e2", "e3"] {
                let frame = answers.frame().await.unwrap().unwrap().into_data().unwrap();
                assert!(frame.ends_with(b"\n"));
                send.send(line(next)).await.unwrap();
            }
            drop(send);
            let last = answers.collect().await.unwrap().to_bytes();
            assert!(last.starts_with(b"{\"line\":3,\"id\":\"e3\""), "{last:?}");
        };
        tokio::time::timeout(Duration::from_secs(60), talk).await.unwrap();
    });
    assert_eq!(inbox(&rig, "ann").len(), 3);
}

#[test]
fn a_stream_under_a_key_is_the_same_events_again() {
    let rig = Rig::new();
    person(&rig, "ann");
    let body = format!("{}\n{}\n", event(None, "ann"), event(None, "ann"));
    let send = |rig: &Rig, body: &str| {
        let headers = [NDJSON, ("idempotency-key", "k")];
        lines(&rig.send(Method::POST, "/v1/events", &headers, body.to_owned()))
    };
    let first = send(&rig, &body);
    let rig = rig.restart();
    let again = send(&rig, &body);
    for (first, again) in first.iter().zip(&again) {
        assert_eq!(first["status"], "accepted");
        assert_eq!((&again["id"], &again["status"]), (&first["id"], &json!("duplicate")));
    }
    assert_eq!(inbox(&rig, "ann").len(), 2);
    let page = rig.send(Method::GET, "/metrics", &[], "");
    let text = std::str::from_utf8(&page.bytes).unwrap();
    assert!(text.contains("\ntidings_events_republished_total 2\n"), "{text}");
    assert!(text.contains("\ntidings_events_total 2\n"), "{text}");

    // What says something else is something else, whatever stood on its line before.
    let mut other = event(None, "ann");
    other["object"]["id"] = json!("another");
    let answers = send(&rig, &other.to_string());
    assert_eq!(answers[0]["status"], "accepted");
    assert_eq!(inbox(&rig, "ann").len(), 3);
}

#[test]
fn a_line_without_end_ends_the_stream() {
    let settings = Settings { body_bytes_max: 1_000, ..Settings::default() };
    let rig = Rig::with(CONFIG, Access::Open, settings);
    person(&rig, "ann");
    let first = Bytes::from(format!("{}\n", event(Some("e1"), "ann")));
    let more = Bytes::from_static(&[b'x'; 600]);
    let pieces = [first, more.clone(), more.clone(), more].map(Ok::<_, std::io::Error>);
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    let answers = lines(&rig.send(Method::POST, "/v1/events", &[NDJSON], body));
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["status"], "accepted");
    assert_eq!(
        (&answers[1]["line"], &answers[1]["problem"]["code"]),
        (&json!(2), &json!("body_too_large"))
    );
}

#[test]
fn a_stream_ends_with_the_server() {
    let rig = Rig::new();
    rig.service.stop();
    let body = format!("{}\n", event(Some("e1"), "ann"));
    let answers = lines(&rig.send(Method::POST, "/v1/events", &[NDJSON], body));
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["problem"]["code"], "stopping");
}

/// P11: whatever comes with it or before it, an event waits for no more than the step that goes on
/// when it comes, and is done in the next.
#[test]
fn a_small_event_beside_large_ones_waits_for_one_step() {
    let rig = Rig::new();
    let people = (0..2_000).map(|n| format!("p{n}"));
    for id in people {
        person(&rig, &id);
    }
    let steps = || *rig.service.handle.vitals().steps.cumulative().last().unwrap();
    // The node is held between two steps until all of them wait.
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let (at_rest, rests) = std::sync::mpsc::channel();
    let rest = move |_| {
        at_rest.send(()).unwrap();
        held.recv().unwrap_err();
    };
    rig.service.handle.submit_then(Vec::new(), rest).unwrap();
    rests.recv().unwrap();
    let before = steps();
    let ask = |body: Value| {
        let request = Request::post("/v1/events").body(Body::from(body.to_string()));
        rig.tokio.spawn(rig.ask(request.unwrap()))
    };
    let large: Vec<_> = (0..50)
        .map(|n| {
            let mut large = event(Some(&format!("large-{n}")), "p0");
            large["to"] = json!({ "everyone": true });
            ask(large)
        })
        .collect();
    let small = ask(event(Some("small"), "p7"));
    while rig.service.handle.waiting() < 51 {
        std::thread::yield_now();
    }
    drop(hold);
    let small = rig.tokio.block_on(small).unwrap();
    assert_eq!(small.json()["notifications"], 1);
    // It may have come in while the first of the others were being done.
    assert!(steps() - before <= 2, "{}", steps() - before);
    for large in large {
        assert_eq!(rig.tokio.block_on(large).unwrap().json()["notifications"], 2_000);
    }
}
