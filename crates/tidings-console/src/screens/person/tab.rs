//! The tabs of a person's page.

/// The tabs: the word in the URL, and the title. The first needs no word.
pub(crate) const TABS: [(&str, &str); 7] = [
    ("", "What happens"),
    ("inbox", "Inbox"),
    ("next", "Next messages"),
    ("preferences", "Preferences"),
    ("addresses", "Addresses"),
    ("topics", "Topics and tenants"),
    ("messages", "Messages"),
];
