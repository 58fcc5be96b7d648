//! Answers of tools: at most 50 rows and 64 KiB, as a structure and as its text.

use serde_json::{Map, Value, json};

use super::untrusted::set_apart;

/// The most rows of any list in an answer.
pub(super) const ROWS_MAX: usize = 50;

/// The most bytes of an answer. It has the structure twice, the second time as a text.
pub(super) const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Room for the frame of the message, and for what says that rows were left off.
const FRAME_BYTES: usize = 2 << 10;

/// The most lists of which the number of rows that were left off is named.
const NAMED_MAX: usize = 20;

/// The most letters of a text in an answer whose rows are few and still too long.
const LETTERS_MAX: usize = 500;

/// The structure of a tool's answer, with untrusted texts apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StructuredAnswer(Value);

impl StructuredAnswer {
    pub(super) fn new(mut value: Value) -> Self {
        set_apart(&mut value);
        Self(value)
    }

    /// Returns true if nothing has to be left off.
    pub(super) fn fits(&self) -> bool {
        bytes(&self.0) <= ANSWER_BYTES_MAX - FRAME_BYTES
    }

    /// The same within the bounds: the ends of lists are left off, and the numbers of these rows are told. `None` = it is
    /// too long without any row.
    pub(super) fn bounded(self) -> Option<Self> {
        let halves = (0..).map(|times| ROWS_MAX >> times);
        for rows_max in halves.take_while(|rows| *rows > 0).chain([0]) {
            let mut value = self.0.clone();
            let mut left_off = Map::new();
            shorten(&mut value, "", rows_max, &mut left_off);
            if rows_max <= 1 {
                shorten_texts(&mut value);
            }
            if let Value::Object(fields) = &mut value
                && !left_off.is_empty()
            {
                let named = left_off.into_iter().take(NAMED_MAX).collect();
                fields.insert("left_off".to_owned(), Value::Object(named));
            }
            let shorter = Self(value);
            if shorter.fits() {
                return Some(shorter);
            }
        }
        None
    }

    /// The result of a call of a tool.
    pub(super) fn result(self) -> Value {
        let text = self.0.to_string();
        json!({"content": [{"type": "text", "text": text}], "structuredContent": self.0, "isError": false})
    }

    #[cfg(test)]
    pub(super) fn value(&self) -> &Value {
        &self.0
    }
}

/// The bytes of a structure and of its text within JSON.
fn bytes(value: &Value) -> usize {
    let text = value.to_string();
    let quoted = Value::String(text.clone()).to_string();
    text.len() + quoted.len()
}

/// Leaves off what lists have beyond a number of rows.
fn shorten(value: &mut Value, at: &str, rows_max: usize, left_off: &mut Map<String, Value>) {
    match value {
        Value::Array(rows) => {
            if rows.len() > rows_max {
                left_off.insert(at.to_owned(), (rows.len() - rows_max).into());
                rows.truncate(rows_max);
            }
            for (index, row) in rows.iter_mut().enumerate() {
                shorten(row, &format!("{at}[{index}]"), rows_max, left_off);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                shorten(value, &at, rows_max, left_off);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn shorten_texts(value: &mut Value) {
    match value {
        Value::Array(rows) => rows.iter_mut().for_each(shorten_texts),
        Value::Object(fields) => fields.values_mut().for_each(shorten_texts),
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(LETTERS_MAX) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(answer: Value) -> Option<usize> {
        let answer = StructuredAnswer::new(answer).bounded()?.result();
        Some(json!({"jsonrpc": "2.0", "id": 1, "result": answer}).to_string().len())
    }

    #[test]
    fn an_answer_has_fifty_rows_at_most_and_says_what_it_leaves_off() {
        let rows: Vec<Value> = (0..120).map(|index| json!({"id": index.to_string()})).collect();
        let answer = StructuredAnswer::new(json!({"rows": rows})).bounded().unwrap();
        assert_eq!(answer.value()["rows"].as_array().unwrap().len(), 50);
        assert_eq!(answer.value()["left_off"], json!({"rows": 70}));
        let few = json!({"rows": [1, 2]});
        assert_eq!(StructuredAnswer::new(few.clone()).bounded().unwrap().value(), &few);
    }

    #[test]
    fn no_answer_is_longer_than_64_kib() {
        let long = "\"\\é".repeat(200);
        let row = json!({"id": "i", "reply": long, "entries": vec![json!({"reply": long}); 9]});
        for answer in [
            json!({"rows": vec![row.clone(); 50]}),
            json!({"text": "\u{1}\"".repeat(100_000)}),
            json!({"deep": {"rows": vec![json!({"rows": vec![row; 9]}); 50]}}),
        ] {
            let length = whole(answer).unwrap();
            assert!(length <= ANSWER_BYTES_MAX, "{length}");
        }
        let fields: Map<String, Value> = (0..9_000).map(|at| (at.to_string(), at.into())).collect();
        assert_eq!(whole(fields.into()), None);
    }
}
