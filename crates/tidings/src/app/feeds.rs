//! The settings of the configured feeds.

#[cfg(feature = "postgres")]
use std::time::Duration;

use tidings_config::secret_here;
use tidings_core::Rules;
use tidings_core::rules::FeedRules;

use super::StartError;

/// A look-up of secrets by name.
pub(super) type FeedSecretLookup<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// The faults of the feeds of a configuration here, each with its name.
#[cfg(not(feature = "postgres"))]
fn feed_faults(rules: &Rules) -> impl Iterator<Item = String> {
    rules.feeds.iter().filter_map(|(name, feed)| {
        let fault = feed_settings(name, feed, &secret_here).err()?;
        Some(format!("{name}.url: {fault}"))
    })
}

/// The settings of the configured feeds.
///
/// # Errors
/// [`StartError::Feed`], of the first that can't be used.
#[cfg(feature = "postgres")]
pub fn feeds(rules: &Rules) -> Result<Vec<tidings_feeds::FeedSettings>, StartError> {
    let each = rules.feeds.iter().map(|(name, feed)| {
        feed_settings(name, feed, &secret_here)
            .map_err(|fault| StartError::Feed(format!("{name}.url: {fault}")))
    });
    each.collect()
}

/// Checks that feeds can be read.
///
/// # Errors
/// [`StartError::Feed`]: this build has none.
#[cfg(not(feature = "postgres"))]
pub fn feeds(rules: &Rules) -> Result<(), StartError> {
    feed_faults(rules).next().map_or(Ok(()), |fault| Err(StartError::Feed(fault)))
}

#[cfg(feature = "postgres")]
pub(super) fn feed_settings(
    name: &str,
    rules: &FeedRules,
    secret: FeedSecretLookup<'_>,
) -> Result<tidings_feeds::FeedSettings, String> {
    use tidings_core::rules::OnRefusal;
    let ms = |ms: i64| Duration::from_millis(ms.max(0).unsigned_abs());
    Ok(tidings_feeds::FeedSettings {
        name: name.to_owned(),
        database: feed_database(&rules.url, secret)?,
        table: rules.table.clone(),
        every: ms(rules.every_ms),
        refused: match rules.refused {
            OnRefusal::Park => tidings_feeds::OnRefusal::Park,
            OnRefusal::Stop => tidings_feeds::OnRefusal::Stop,
        },
        keep: ms(rules.keep_ms),
    })
}

#[cfg(not(feature = "postgres"))]
pub(super) fn feed_settings(_: &str, _: &FeedRules, _: FeedSecretLookup<'_>) -> Result<(), String> {
    Err("this build has no feeds; use one with the feature `postgres`".to_owned())
}

/// The database of a feed. A secret that is part of an address is encoded; one that is all of it is an address.
#[cfg(feature = "postgres")]
fn feed_database(
    url: &str,
    secret: &dyn Fn(&str) -> Result<String, String>,
) -> Result<tidings_tls::postgres::PostgresAddress, String> {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    let named = tidings_config::services::feeds::secrets(url).unwrap_or_default();
    let mut whole = String::new();
    let mut from = 0;
    for (place, name) in named {
        let value = secret(name)?;
        whole.push_str(&url[from..place.start]);
        if place == (0..url.len()) {
            whole.push_str(&value);
        } else {
            whole.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
        }
        from = place.end;
    }
    whole.push_str(&url[from..]);
    tidings_tls::postgres::PostgresAddress::of(&whole)
}
