//! The lists of the system: which call each makes, and which cells its rows have.

use serde_json::Value;

use super::listing::{Column, Field, ListCell, Listing, counted, written};
use crate::call::{Call, encoded};
use crate::console::Console;
use crate::query::Query;
use crate::viewer::Viewer;

/// The definition of a list: its call, columns and filters.
pub(super) struct List {
    pub(super) name: &'static str,
    /// The call that it shows, by name: who may not make it does not see the list.
    pub(super) operation: &'static str,
    /// A description for the page of all lists.
    pub(super) about: &'static str,
    /// The path of the call, below `/v1`.
    pub(super) path: &'static [&'static str],
    columns: &'static [Column],
    /// The noun of its rows, for one and for many.
    nouns: [&'static str; 2],
    empty: [&'static str; 2],
    fields: fn(&Query) -> Vec<Field>,
    cells: fn(&ListedRow<'_>) -> Vec<ListCell>,
}

/// A row, and who looks at it.
struct ListedRow<'r> {
    row: &'r Value,
    console: &'r Console,
    viewer: &'r Viewer,
    query: &'r Query,
}

impl ListedRow<'_> {
    fn may(&self, operation: &str) -> bool {
        self.console.api().may(self.viewer.caller.role, operation)
    }

    fn text(&self, name: &str) -> &str {
        self.row[name].as_str().unwrap_or_default()
    }
}

/// The lists that this file makes, in the order of the page of all.
pub(super) const LISTS: [List; 8] = [
    List {
        name: "suppressions",
        operation: "list_suppressions",
        about: "addresses that get nothing",
        path: &["suppressions"],
        columns: &[
            Column::text("Channel"),
            Column::text("Address"),
            Column::text("Reason"),
            Column::text("Since"),
            Column::text("Until"),
            Column::text(""),
        ],
        nouns: ["suppressed address", "suppressed addresses"],
        empty: [
            "No address is suppressed. Bounces and complaints suppress addresses, and so do you:",
            "tidings suppress email ADDRESS",
        ],
        fields: |query| {
            vec![
                Field::text(query, "recipient", "ana"),
                Field::text(query, "channel", "email"),
                Field::of(query, "reason", &["manual", "bounce", "complaint", "stop", "gone"]),
                Field::text(query, "since", "2026-03-07T08:00:00Z"),
            ]
        },
        cells: suppression,
    },
    List {
        name: "feeds",
        operation: "list_feeds",
        about: "tables of your database that events are read from",
        path: &["feeds"],
        columns: &[
            Column::text("Feed"),
            Column::text("State"),
            Column::text("Fault"),
            Column::number("Behind"),
            Column::number("Parked"),
            Column::number("Taken"),
            Column::text(""),
        ],
        nouns: ["feed", "feeds"],
        empty: [
            "No feed is configured. A feed reads events from a table of your database, in the transaction that made them:",
            "[[feeds]]\nname = \"app\"\nurl = \"${APP_DATABASE}\"",
        ],
        fields: |_| Vec::new(),
        cells: feed,
    },
    List {
        name: "hooks",
        operation: "list_hooks",
        about: "addresses of yours that are told what happens",
        path: &["hooks"],
        columns: &[
            Column::text("Hook"),
            Column::text("State"),
            Column::number("Waiting"),
            Column::text("Last call"),
            Column::text("Status"),
            Column::text(""),
        ],
        nouns: ["hook", "hooks"],
        empty: [
            "No hook is configured. A hook is called when a message fails, is delivered, or an address is suppressed:",
            "[[hooks]]\nname = \"crm\"\nurl = \"https://example.org/hook\"\nsecret = \"${HOOK_SECRET}\"\nof = [\"message.failed\"]",
        ],
        fields: |_| Vec::new(),
        cells: hook,
    },
    List {
        name: "tenants",
        operation: "list_tenants",
        about: "customers of yours whose notifications are kept apart",
        path: &["tenants"],
        columns: &[
            Column::text("Tenant"),
            Column::text("Name"),
            Column::text("State"),
            Column::text("Locale"),
            Column::text("Zone"),
            Column::text(""),
        ],
        nouns: ["tenant", "tenants"],
        empty: ["There is no tenant yet.", "tidings tenant put acme --name Acme"],
        fields: |_| Vec::new(),
        cells: tenant,
    },
    List {
        name: "keys",
        operation: "list_keys",
        about: "keys of the API, and what each may do",
        path: &["admin", "keys"],
        columns: &[
            Column::text("Key"),
            Column::text("Name"),
            Column::text("Role"),
            Column::text("Made"),
            Column::text(""),
        ],
        nouns: ["key", "keys"],
        empty: [
            "There is no key yet, so nobody can call the API.",
            "tidings key new --name app --data DIR",
        ],
        fields: |_| Vec::new(),
        cells: key,
    },
    List {
        name: "sessions",
        operation: "list_sessions",
        about: "people who are signed in to this console",
        path: &["admin", "sessions"],
        columns: &[
            Column::text("Session"),
            Column::text("By"),
            Column::text("Began"),
            Column::text("Used"),
            Column::text("Until"),
            Column::text(""),
        ],
        nouns: ["session", "sessions"],
        empty: ["Nobody is signed in by a session.", ""],
        fields: |_| Vec::new(),
        cells: session,
    },
    List {
        name: "log",
        operation: "list_log",
        about: "who changed what, and when",
        path: &["admin", "log"],
        columns: &[
            Column::text("At"),
            Column::text("By"),
            Column::text("Via"),
            Column::text("Action"),
            Column::text("Subject"),
            Column::text("Change"),
            Column::text("Result"),
        ],
        nouns: ["change", "changes"],
        empty: ["No change is logged that matches.", "tidings log --limit 20"],
        fields: |query| {
            vec![
                Field::text(query, "by", "key:k1"),
                Field::text(query, "action", "pause_type"),
                Field::text(query, "subject", "recipient:ana"),
                Field::text(query, "tenant", "acme"),
                Field::text(query, "from", "2026-03-07T08:00:00Z"),
                Field::text(query, "to", "2026-03-08T08:00:00Z"),
            ]
        },
        cells: change,
    },
    List {
        name: "nodes",
        operation: "list_nodes",
        about: "servers that share the store",
        path: &["nodes"],
        columns: &[
            Column::text("Node"),
            Column::text("State"),
            Column::text("Since"),
            Column::text("Shards"),
            Column::number("Behind"),
            Column::number("Silent"),
            Column::text("Configuration"),
        ],
        nouns: ["node", "nodes"],
        empty: [
            "This server is the only one: it has a directory of its own. Several share a database:",
            "tidings serve --store postgres://USER@HOST/DB",
        ],
        fields: |_| Vec::new(),
        cells: node,
    },
];

impl List {
    /// The list of a name.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        LISTS.iter().find(|list| list.name == name)
    }

    /// The call that it shows.
    pub(super) fn call(&self, query: &Query) -> Call {
        query.onto(Call::get(self.path))
    }

    /// The list with the rows of an answer.
    pub(super) fn listing(
        &self,
        answer: &Value,
        console: &Console,
        viewer: &Viewer,
        query: &Query,
    ) -> Listing {
        let last = self.path.last().copied().unwrap_or_default();
        let rows = answer.as_array().or_else(|| answer[last].as_array());
        let rows: Vec<Vec<ListCell>> = rows
            .into_iter()
            .flatten()
            .map(|row| (self.cells)(&ListedRow { row, console, viewer, query }))
            .collect();
        let is_all = answer["next"].is_null() && query.get("cursor").is_none();
        let [one, many] = self.nouns;
        Listing {
            name: self.name,
            verdict: counted(rows.len(), is_all, one, many),
            columns: self.columns,
            rows,
            fields: (self.fields)(query),
            empty: self.empty,
            missing: answer["missing"].clone(),
            next: query.next_url(&format!("/system/{}", self.name), answer),
        }
    }
}

/// Gives each suppressed address its mark, before it is masked.
pub(super) fn add_marks(answer: &mut Value) {
    let rows = answer.get_mut("suppressions").and_then(Value::as_array_mut);
    for row in rows.into_iter().flatten() {
        let mark = row["address"].as_str().map(mark);
        if let Some(fields) = row.as_object_mut() {
            fields.insert("mark".to_owned(), mark.into());
        }
    }
}

/// A number from 0 to 255 that tells an address from most others, and nobody which one it is.
pub(super) fn mark(address: &str) -> u8 {
    address.bytes().fold(0x5a, |mark: u8, byte| (mark ^ byte).wrapping_mul(167).rotate_left(3))
}

fn suppression(of: &ListedRow<'_>) -> Vec<ListCell> {
    let row = of.row;
    let (channel, since) = (of.text("channel"), of.text("since"));
    let mut actions = Vec::new();
    if of.may("unsuppress") {
        // The address is in no URL: the row is found again by its instant, a mark that tells it from others of the same
        // instant, and the recipient who is looked at.
        let mark = written(&row["mark"]);
        let mut which = Query::default().with("since", since).with("mark", &mark);
        if let Some(recipient) = of.query.get("recipient") {
            which = which.with("recipient", recipient);
        }
        let path = format!("/system/suppressions/{}/unsuppress", encoded(channel));
        actions.push(("Unsuppress…", which.url(&path)));
    }
    vec![
        ListCell::text(row, "channel"),
        ListCell::text(row, "address"),
        ListCell::Id(of.text("reason").to_owned()),
        ListCell::at(row, "since"),
        match row["expires_at"].is_null() {
            true => ListCell::Dim("for good".to_owned()),
            false => ListCell::at(row, "expires_at"),
        },
        ListCell::Actions(actions),
    ]
}

fn feed(of: &ListedRow<'_>) -> Vec<ListCell> {
    let (row, name) = (of.row, of.text("name"));
    let page = format!("/system/feeds/{}", encoded(name));
    let mut actions = Vec::new();
    if row["parked"].as_i64().unwrap_or_default() > 0 {
        actions.push(("Parked rows", format!("{page}/parked")));
    }
    let is_paused = of.text("state") == "paused";
    if is_paused && of.may("resume_feed") {
        actions.push(("Resume…", format!("{page}/resume")));
    } else if !is_paused && of.may("pause_feed") {
        actions.push(("Pause…", format!("{page}/pause")));
    }
    vec![
        ListCell::id(row, "name"),
        ListCell::State(of.text("state").to_owned()),
        ListCell::text(row, "fault"),
        ListCell::SpanMs(row["lag_ms"].as_i64()),
        ListCell::Number(row["parked"].as_i64()),
        ListCell::Number(row["taken"].as_i64()),
        ListCell::Actions(actions),
    ]
}

fn hook(of: &ListedRow<'_>) -> Vec<ListCell> {
    let (row, name) = (of.row, of.text("name"));
    let last = &row["last"];
    let status = match last["status"].as_i64() {
        None => ListCell::Dim("not called yet".to_owned()),
        Some(0) => ListCell::Text("no answer".to_owned()),
        Some(status) => ListCell::Text(status.to_string()),
    };
    let mut actions = Vec::new();
    if of.text("state") == "off" && of.may("resume_hook") {
        actions.push(("Resume…", format!("/system/hooks/{}/resume", encoded(name))));
    }
    vec![
        ListCell::id(row, "name"),
        ListCell::State(of.text("state").to_owned()),
        ListCell::Number(row["backlog"].as_i64()),
        ListCell::at(last, "at"),
        status,
        ListCell::Actions(actions),
    ]
}

fn tenant(of: &ListedRow<'_>) -> Vec<ListCell> {
    let (row, id) = (of.row, of.text("id"));
    let state = if row["disabled"] == true { "disabled" } else { "active" };
    let people = Query::default().with("tenant", id);
    vec![
        ListCell::Link(id.to_owned(), people.url("/people")),
        ListCell::text(row, "name"),
        ListCell::State(state.to_owned()),
        ListCell::text(row, "locale"),
        ListCell::text(row, "tz"),
        ListCell::Actions(vec![
            ("Messages", people.url("/messages")),
            ("Events", people.url("/events")),
        ]),
    ]
}

fn key(of: &ListedRow<'_>) -> Vec<ListCell> {
    let (row, id) = (of.row, of.text("id"));
    let mut actions = Vec::new();
    if of.may("list_log") {
        let query = Query::default().with("by", &format!("key:{id}"));
        actions.push(("Its changes", query.url("/system/log")));
    }
    if of.may("revoke_key") {
        actions.push(("Revoke…", format!("/system/keys/{}/revoke", encoded(id))));
    }
    vec![
        ListCell::id(row, "id"),
        ListCell::text(row, "name"),
        ListCell::text(row, "role"),
        ListCell::at(row, "made"),
        ListCell::Actions(actions),
    ]
}

fn session(of: &ListedRow<'_>) -> Vec<ListCell> {
    let (row, id) = (of.row, of.text("id"));
    let mut actions = Vec::new();
    if of.may("end_session") {
        actions.push(("End…", format!("/system/sessions/{}/end", encoded(id))));
    }
    vec![
        ListCell::id(row, "id"),
        ListCell::Text(author(&row["by"])),
        ListCell::at(row, "began"),
        ListCell::at(row, "used"),
        ListCell::at(row, "until"),
        ListCell::Actions(actions),
    ]
}

fn change(of: &ListedRow<'_>) -> Vec<ListCell> {
    let row = of.row;
    let by = format!("{}:{}", written(&row["by"]["kind"]), written(&row["by"]["id"]));
    let by_log = Query::default().with("by", &by).url("/system/log");
    let count = row["count"].as_i64().map(|count| format!("{count} changes")).unwrap_or_default();
    let fields = row["fields"].as_array().into_iter().flatten();
    let mut changes: Vec<String> = fields.map(field).collect();
    changes.extend(Some(count).filter(|count| !count.is_empty()));
    vec![
        ListCell::at(row, "at"),
        ListCell::Link(author(&row["by"]), by_log),
        ListCell::text(row, "via"),
        ListCell::id(row, "action"),
        subject(&row["subject"]),
        ListCell::Text(changes.join("; ")),
        ListCell::text(row, "result"),
    ]
}

/// A change of a field, as "paused: no → yes".
fn field(field: &Value) -> String {
    let word = |value: &Value| match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        value => written(value),
    };
    let (name, from, to) = (written(&field["name"]), &field["from"], &field["to"]);
    if from == "changed" || to == "changed" {
        return format!("{name} changed");
    }
    format!("{name}: {} → {}", word(from), word(to))
}

/// An author, as "key k1 (operate)".
fn author(by: &Value) -> String {
    if let Some(by) = by.as_str() {
        return by.to_owned();
    }
    let role = by["role"].as_str().map(|role| format!(" ({role})")).unwrap_or_default();
    format!("{} {}{role}", written(&by["kind"]), written(&by["id"]))
}

/// The subject of a change, with a link to its page, or else to its other changes.
fn subject(subject: &Value) -> ListCell {
    let (kind, id) = (written(&subject["kind"]), written(&subject["id"]));
    if id.is_empty() {
        return ListCell::Dim(format!("several of kind {kind}"));
    }
    let href = match kind.as_str() {
        "recipient" => format!("/people/{}", encoded(&id)),
        "event" => format!("/events/{}", encoded(&id)),
        "message" => format!("/messages/{}", encoded(&id)),
        "type" => format!("/types/{}", encoded(&id)),
        "job" => format!("/system/jobs/{}", encoded(&id)),
        _ => Query::default().with("subject", &format!("{kind}:{id}")).url("/system/log"),
    };
    ListCell::Link(format!("{kind} {id}"), href)
}

fn node(of: &ListedRow<'_>) -> Vec<ListCell> {
    let row = of.row;
    let parts = match row["parts"].as_array() {
        Some(parts) => format!("{} shards", parts.len()),
        None => "all".to_owned(),
    };
    let intake = if row["intake"] == true { ", intake" } else { "" };
    vec![
        ListCell::id(row, "node"),
        ListCell::State(of.text("state").to_owned()),
        ListCell::at(row, "since"),
        ListCell::Text(format!("{parts}{intake}")),
        ListCell::SpanMs(row["lag_ms"].as_i64()),
        ListCell::SpanMs(row["silent_ms"].as_i64()),
        ListCell::id(row, "config"),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_says_from_what_to_what() {
        for (of, words) in [
            (json!({"name": "paused", "from": false, "to": true}), "paused: no → yes"),
            (json!({"name": "reason", "from": null, "to": "bounce"}), "reason: nothing → bounce"),
            (json!({"name": "name", "from": "changed", "to": null}), "name changed"),
            (json!({"name": "lanes", "from": 2, "to": 0}), "lanes: 2 → 0"),
        ] {
            assert_eq!(field(&of), words);
        }
    }

    #[test]
    fn a_mark_tells_addresses_of_one_instant_apart_and_does_not_name_them() {
        let addresses: Vec<String> =
            (0..2_560).map(|n| format!("person-{n}@example.org")).collect();
        let mut counts = [0; 256];
        for address in &addresses {
            counts[usize::from(mark(address))] += 1;
        }
        assert!(counts.iter().all(|count| (1..60).contains(count)), "{counts:?}");
    }

    #[test]
    fn an_author_is_an_object_or_a_word() {
        assert_eq!(author(&json!({"kind": "key", "id": "k1", "role": "admin"})), "key k1 (admin)");
        assert_eq!(author(&json!({"kind": "provider", "id": "smtp://a"})), "provider smtp://a");
        assert_eq!(author(&json!("mara")), "mara");
    }
}
