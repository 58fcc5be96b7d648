//! Faults of bodies, wherever they are in them; what each operation takes is tested with timelines.

use super::event::EventBody;
use super::*;

#[test]
fn faults_have_the_whole_path() {
    for (rest, reason, hint) in [
        (
            r#""object":["o"],"to":{}"#,
            "`object` must be an object, got an array",
            r#"Example: {"id": "works/1"}"#,
        ),
        (r#""object":{"id":null},"to":{}"#, "`object.id` is missing", "add `object.id`"),
        (
            r#""object":{"id":"o"},"to":{"topics":[null]}"#,
            "`to.topics[0]` must be a string, got null",
            "in quotes",
        ),
        (
            r#""object":{"id":"o"},"to":{"near":7}"#,
            "`to.near` must be an object, or a list of objects, got a number",
            r#"Example: {"lat": 48.86"#,
        ),
        (
            r#""object":{"id":"o"},"to":{"near":[7]}"#,
            "`to.near[0]` must be an object, got a number",
            r#"Example: {"lat": 48.86"#,
        ),
        (
            r#""object":{"id":"o"},"to":{"near":[{"lat":0,"lon":0,"km":1},{"lat":"x"}]}"#,
            "`to.near[1].lat` must be a number, got a string",
            "without quotes",
        ),
        (
            r#""object":{"id":"o"},"to":{"near":[{"lat":0,"lon":0,"mk":1}]}"#,
            "unknown field `mk` in `to.near[0]`",
            "did you mean `km`?",
        ),
        (
            r#""object":{"id":"o"},"to":{},"data":"x""#,
            "`data` must be an object, got a string",
            r#"Example: {"excerpt""#,
        ),
        (
            r#""object":{"id":"o"},"to":{},"payload":{}"#,
            "unknown field `payload`",
            "did you mean `data`?",
        ),
    ] {
        let body = format!(r#"{{"type":"note",{rest}}}"#);
        let fields = Fields::parse(body.as_bytes()).unwrap();
        let fault = fields.body::<EventBody>().map(drop).unwrap_err();
        assert_eq!(fault.reason, reason);
        assert!(fault.hint.contains(hint), "{fault:?} should hint at {hint}");
    }
}

#[test]
fn a_body_is_written_as_it_is_read() {
    let body = r#"{"id":"e","type":"note","actor":"a","object":{"id":"o","title":"T"},"target":{"id":"t"},
        "to":{"recipients":["r"],"near":[{"lat":1.5,"lon":-2.0,"km":3.0}]},"data":{"n":[1,{"a":2.5}]},
        "deliver_at":"2024-01-01T00:00:00.5Z"}"#;
    let read = |text: &str| {
        let event: EventBody = Fields::parse(text.as_bytes()).unwrap().body().unwrap();
        let written = serde_json::to_string(&event).unwrap();
        let rules = tidings_core::Rules::default();
        (event.command(&rules, || Id::new("new").unwrap()), written)
    };
    let (command, written) = read(body);
    assert_eq!(read(&written), (command, written.clone()));
    assert!(written.contains(r#""deliver_at":"2024-01-01T00:00:00.500Z""#));
}

#[test]
fn f11_a_refusal_has_the_same_hint_wherever_it_came_from() {
    let event_type = Id::new("coment").unwrap();
    let configured = vec!["comment".to_owned()];
    let misspelt = Refused::UnknownType { event_type, configured };
    assert!(hint(&misspelt).unwrap().contains("`comment`"));
    let nobody = Refused::UnknownRecipient(Id::new("ada").unwrap());
    assert_eq!(hint(&nobody), None, "each place has its own cure");
}
