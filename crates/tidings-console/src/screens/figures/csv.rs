//! Rows of figures as a file: a column a measure, and no cell that a spreadsheet would run.

use serde_json::Value;

/// A header and a line a row (RFC 4180).
pub(super) fn written(rows: &Value, by: &str) -> String {
    let keys: Vec<&str> = by.split(',').collect();
    let rows: Vec<&Value> = rows.as_array().into_iter().flatten().collect();
    let mut columns: Vec<String> = Vec::new();
    for row in &rows {
        for (name, _) in flat(row, &keys) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
    }
    let head = keys.iter().map(|key| (*key).to_owned()).chain(columns.iter().cloned());
    let mut out = line(head);
    for row in rows {
        let values = flat(row, &keys);
        let names = keys.iter().map(|key| row[*key].as_str().unwrap_or_default().to_owned());
        let counts = columns.iter().map(|column| {
            let found = values.iter().find(|(name, _)| name == column);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        });
        out.push_str(&line(names.chain(counts)));
    }
    out
}

/// The measures of a row, those within others by `messages.sent`.
fn flat(row: &Value, keys: &[&str]) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (name, value) in row.as_object().into_iter().flatten() {
        match value {
            _ if keys.contains(&name.as_str()) => {}
            Value::Object(parts) => {
                out.extend(
                    parts.iter().map(|(part, value)| (format!("{name}.{part}"), number(value))),
                );
            }
            value => out.push((name.clone(), number(value))),
        }
    }
    out
}

fn number(value: &Value) -> String {
    if value.is_null() { String::new() } else { value.to_string() }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell)).collect();
    cells.join(",") + "\r\n"
}

fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_is_a_measure_and_a_formula_is_a_text() {
        let rows = json!([
            {"type": "=cmd()", "events": 1, "messages": {"failed": 0, "sent": 2}},
            {"type": "a,\"b\"", "events": null, "messages": {"failed": 1, "sent": 3}},
        ]);
        let text = written(&rows, "type");
        assert_eq!(
            text,
            "type,events,messages.failed,messages.sent\r\n'=cmd(),1,0,2\r\n\"a,\"\"b\"\"\",,1,3\r\n"
        );
    }

    #[test]
    fn no_rows_have_the_header_of_the_keys() {
        assert_eq!(written(&json!([]), "type,day"), "type,day\r\n");
    }
}
