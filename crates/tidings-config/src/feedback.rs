//! The section `[feedback]`: the ways in which mail servers and providers report outcomes of messages.

use std::collections::BTreeMap;

use tidings_core::rules::FeedbackRules;

use super::services::resolver::secret;
use super::walk::{ConfigReader, Section};

/// The providers whose calls are known to be their own by a secret that both have.
const BY_SECRET: [&str; 4] = ["mailgun", "postmark", "sendgrid", "twilio"];
/// The provider whose calls are signed by a key of its own, and identified by their topic.
const SES: &str = "ses";

pub(super) fn feedback(walk: &mut ConfigReader, root: &Section<'_>) -> FeedbackRules {
    let Some(section) = walk.section(root, "feedback", "write `[feedback]`") else {
        return FeedbackRules::default();
    };
    let mut known = vec!["address", "maildir", "opened", "clicked", SES];
    known.extend(BY_SECRET);
    walk.only(&section, &known);
    let mut providers = BTreeMap::new();
    for provider in BY_SECRET {
        if let Some(secret) = secret(walk, &section, provider) {
            providers.insert(provider.to_owned(), secret);
        }
    }
    if let Some(topic) = topic(walk, &section) {
        providers.insert(SES.to_owned(), topic);
    }
    FeedbackRules {
        address: address(walk, &section),
        maildir: maildir(walk, &section),
        opened: walk.flag(&section, "opened").unwrap_or_default(),
        clicked: walk.flag(&section, "clicked").unwrap_or_default(),
        providers,
    }
}

fn address(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let hint = "write an address without a name, such as `bounces@example.org`";
    let text = walk.text(section, "address", hint)?;
    if tidings_mail::address(text.value).is_none() || !text.value.is_ascii() {
        walk.bad(&text.span, "`feedback.address` is no address", hint);
        return None;
    }
    Some(text.value.to_owned())
}

/// The path of the Maildir: beside the configuration, unless it is absolute.
fn maildir(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let hint = "write the path of a Maildir in quotes, such as `\"/var/mail/bounces\"`";
    let text = walk.text(section, "maildir", hint)?;
    Some(match &walk.directory {
        Some(directory) => directory.join(text.value).display().to_string(),
        None => text.value.to_owned(),
    })
}

fn topic(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let hint = "write the ARN of the SNS topic, such as `arn:aws:sns:eu-west-1:123456789012:mail`";
    let text = walk.text(section, SES, hint)?;
    if !text.value.starts_with("arn:") {
        walk.bad(&text.span, "`feedback.ses` is no ARN of a topic", hint);
        return None;
    }
    Some(text.value.to_owned())
}
