//! Reading of answers.

use serde_json::json;

use super::*;

fn asked(status: u16, body: &Value) -> CallAnswer {
    CallAnswer {
        status: StatusCode::from_u16(status).unwrap(),
        bytes: body.to_string().into_bytes(),
    }
}

#[test]
fn a_segment_of_a_path_holds_any_id() {
    assert_eq!(segment("works/1 ?#%é"), "works%2F1%20%3F%23%25%C3%A9");
    assert_eq!(segment("a-b.c_d~9"), "a-b.c_d~9");
}

#[test]
fn a_problem_is_told_with_its_hint() {
    let problem = json!({"status": 404, "code": "recipient_not_found", "title": "t", "detail": "there is no `a`", "hint": "make it"});
    let fault = asked(404, &problem).success().unwrap_err();
    assert_eq!(fault.to_string(), "there is no `a`\n  = help: make it");
    let fault = asked(502, &json!("<html>")).success().unwrap_err();
    assert!(fault.to_string().contains("502"), "{fault}");
    assert!(asked(204, &Value::Null).success().is_ok());
}

#[test]
fn a_line_is_a_problem_only_where_it_says_so() {
    let done = json!({"id": "e", "status": "accepted", "notifications": 1});
    assert_eq!(LineProblem::of(&done), None);
    let counted = json!({"lines": 2, "done": 1, "problems": 1});
    assert_eq!(LineProblem::of(&counted), None);
    let rejected = |problem: Value| {
        let line = json!({"line": 7, "status": "rejected", "problem": problem});
        LineProblem::of(&line).unwrap()
    };
    let problem =
        rejected(json!({"status": 422, "code": "invalid_body", "detail": "d", "hint": "h"}));
    assert_eq!((problem.line, problem.is_of_the_server()), (7, false));
    let busy = rejected(json!({"status": 503, "code": "stopping", "title": "t"}));
    assert!(busy.is_of_the_server());
}

#[test]
fn an_address_that_can_not_be_called_is_refused() {
    for url in ["", "localhost:8990", "ftp://x", "http://", "http://a b"] {
        assert!(matches!(Server::new(url, None), Err(CallFault::Address { .. })), "{url}");
    }
    let server = Server::new("http://127.0.0.1:8990/", None).unwrap();
    assert_eq!(server.url(), "http://127.0.0.1:8990");
}
