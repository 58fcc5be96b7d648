//! The names that an expression may use, with the kinds of their values, and the bounds on an expression.

/// Maximum number of bytes of an expression.
pub const EXPRESSION_BYTES_MAX: usize = 4096;

/// Maximum depth of an expression: parentheses, operators and calls within each other.
pub const DEPTH_MAX: u16 = 64;

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// It shows only when the expression is asked.
    Any,
    /// True or false.
    Bool,
    /// An integer.
    Int,
    /// An integer that is not negative.
    Uint,
    /// A number of floating point.
    Double,
    /// A text.
    Text,
    /// An instant.
    Timestamp,
    /// A duration.
    Duration,
    /// A list.
    List,
    /// A map.
    Map,
    /// Nothing.
    Null,
    /// The name of a type.
    Type,
}

impl ValueKind {
    /// The kind in a sentence.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Bool => "true or false",
            Self::Int => "an integer",
            Self::Uint => "an integer with `u`",
            Self::Double => "a number with a point",
            Self::Text => "a text",
            Self::Timestamp => "a time",
            Self::Duration => "a duration",
            Self::List => "a list",
            Self::Map => "an object",
            Self::Null => "null",
            Self::Type => "a type",
        }
    }

    pub(super) fn may_be(self, kinds: &[Self]) -> bool {
        self == Self::Any || kinds.contains(&self)
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }
}

/// A name that an expression may use, with its fields; `None` = any.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// The name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: ValueKind,
    /// Its fields, with theirs.
    pub fields: Option<&'static [Root]>,
}

const fn of(name: &'static str, kind: ValueKind) -> Root {
    let fields = None;
    Root { name, kind, fields }
}

const fn text(name: &'static str) -> Root {
    of(name, ValueKind::Text)
}

const fn within(name: &'static str, fields: &'static [Root]) -> Root {
    Root { name, kind: ValueKind::Map, fields: Some(fields) }
}

const OBJECT: &[Root] =
    &[text("id"), text("title"), text("url"), text("image"), of("data", ValueKind::Map)];

const RECIPIENT: &[Root] = &[text("id"), text("tz"), text("locale"), of("data", ValueKind::Map)];

const TENANT: &[Root] = &[text("id"), text("name"), of("data", ValueKind::Map)];

/// The fields of an event, `t` last.
const EVENT: &[Root] = &[
    text("id"),
    text("type"),
    within("actor", OBJECT),
    within("object", OBJECT),
    within("target", OBJECT),
    of("data", ValueKind::Map),
    text("body"),
    of("score", ValueKind::Double),
    of("to", ValueKind::Map),
    of("channels", ValueKind::List),
    text("occurred_at"),
    text("deliver_at"),
    text("delay"),
    text("deliver_local"),
    text("expires_at"),
    text("tenant"),
    text("cancellation_key"),
    of("t", ValueKind::Timestamp),
];

/// The names of an expression about an event alone.
pub const OF_EVENT: &[Root] = &[within("event", EVENT.split_at(EVENT.len() - 1).0)];

/// The names of a condition: those of an event with its `t`, and what there is now.
pub const OF_CONDITION: &[Root] = &[
    within("event", EVENT),
    within("object", OBJECT),
    within("target", OBJECT),
    within("recipient", RECIPIENT),
    within("tenant", TENANT),
    of("now", ValueKind::Timestamp),
];
