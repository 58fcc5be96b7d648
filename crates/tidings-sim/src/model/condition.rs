//! Conditions, of the few forms that the worlds and cases have: `has(PATH)`, and `PATH OP PATH or literal`.

use serde_json::{Map, Value, json};
use tidings_core::model::{Data, HostText};
use tidings_core::{Event, Instant};

/// An object as it is known now.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownObjectNow {
    pub(super) title: Option<HostText>,
    pub(super) data: Option<Data>,
}

/// Contract, section 6, "Conditions": true, false, or `None` for an error and for no bool.
pub(super) fn holds(condition: &str, names: &Value) -> Option<bool> {
    if let Some(path) = condition.strip_prefix("has(") {
        let path = path.strip_suffix(')')?;
        let (of, field) = path.rsplit_once('.')?;
        let Value::Object(of) = at(names, of)? else {
            return None;
        };
        return Some(of.contains_key(field));
    }
    for operator in ["==", "!=", ">", "<"] {
        let Some((left, right)) = condition.split_once(operator) else {
            continue;
        };
        let (left, right) = (value(names, left)?, value(names, right)?);
        let numbers = left.as_f64().zip(right.as_f64());
        let texts = left.as_str().zip(right.as_str());
        let is_equal =
            numbers.map_or_else(|| left == right, |(left, right)| left.total_cmp(&right).is_eq());
        return match operator {
            "==" => Some(is_equal),
            "!=" => Some(!is_equal),
            _ => {
                let by_number = numbers.and_then(|(left, right)| left.partial_cmp(&right));
                let order = by_number.or_else(|| texts.map(|(left, right)| left.cmp(right)))?;
                Some(if operator == ">" { order.is_gt() } else { order.is_lt() })
            }
        };
    }
    match at(names, condition)? {
        Value::Bool(holds) => Some(*holds),
        _ => None,
    }
}

fn value(names: &Value, text: &str) -> Option<Value> {
    let text = text.trim();
    if let Some(text) = text.strip_prefix('\'') {
        return Some(json!(text.strip_suffix('\'')?));
    }
    match text.parse::<f64>() {
        Ok(number) => Some(json!(number)),
        Err(_) => at(names, text).cloned(),
    }
}

fn at<'n>(names: &'n Value, path: &str) -> Option<&'n Value> {
    path.trim().split('.').try_fold(names, |value, field| value.get(field))
}

/// The names of a condition. Times are texts of one length, which have the order of times.
pub(super) fn names(
    event: &Event,
    t: Instant,
    object: &KnownObjectNow,
    target: Option<&KnownObjectNow>,
    (recipient, tenant): (Value, Value),
    now: Instant,
) -> Value {
    let time = |at: Instant| json!(format!("{:020}", at.0));
    let mut published = json!(event);
    published["t"] = time(t);
    for (role, is_there) in [("object", true), ("target", event.target.is_some())] {
        if is_there && published[role].get("data").is_none() {
            published[role]["data"] = json!({});
        }
    }
    if let Some(body) = &event.body {
        published["body"] = json!(body.first());
    }
    if event.data.is_none() {
        published["data"] = json!({});
    }
    let known = |known: &KnownObjectNow, id: &str| {
        let data = known.data.as_ref().map_or_else(|| json!({}), |data| json!(data));
        let mut fields = json!({ "id": id, "data": data });
        if let Some(title) = &known.title {
            fields["title"] = json!(title.first());
        }
        fields
    };
    let target = event.target.as_ref().zip(target);
    json!({
        "event": published,
        "object": known(object, event.object.id.as_str()),
        "target": target.map_or_else(
            || Value::Object(Map::new()),
            |(target, of)| known(of, target.id.as_str()),
        ),
        "recipient": recipient,
        "tenant": tenant,
        "now": time(now),
    })
}
