//! Erasing a person: what was deleted, what is kept and until when, and a receipt.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::engine::{Erasure, Reply};
use tidings_core::{Command, Id, Instant, Rules};
use utoipa::ToSchema;

use crate::change::before::{Concerned, Foreseen};
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::query::{BeforeAlone, InQuery};
use crate::{Answer, Change, Service};

/// The result of an erasure.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = RecipientErased, example = json!({"erased": {"addresses": 2, "preferences": 1, "profile": 1, "subscriptions": 3}, "kept": [{"what": "events", "until": "2024-04-05T08:00:00Z"}, {"what": "messages", "until": "2024-04-05T08:00:00Z"}, {"what": "log", "until": "2025-04-05T08:00:00Z"}, {"what": "suppressions", "until": null}], "receipt": {"id": "log_8000018df906f800000300000007", "subject": "9f86d081884c7d659a2feaa0c55ad015"}}))]
pub(super) struct ErasureAnswer {
    /// Number of what was deleted: `profile`, `addresses`, `preferences`, `subscriptions`, `memberships`; what there
    /// was none of is absent. Empty = there is no such recipient.
    erased: BTreeMap<&'static str, u64>,
    /// The data that is kept without their name and addresses.
    kept: Vec<KeptData>,
    /// The trace of the erasure in the log of changes; null = there was nobody, or nothing was done.
    #[schema(required)]
    receipt: Option<Receipt>,
    /// With `dry`: true, and nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dry: Option<bool>,
    /// With `dry`: what the call would touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    concerns: Option<Concerned>,
}

/// Data that an erasure leaves.
#[derive(Serialize, ToSchema)]
struct KeptData {
    /// `events` (which may name the person as their actor), `messages` (without their recipient), `log` (with a keyed hash for the id) or `suppressions`.
    what: &'static str,
    /// The time at which the last of it is deleted; null = it is kept for good.
    #[schema(required, format = DateTime)]
    until: Option<String>,
}

/// The trace of an erasure.
#[derive(Serialize, ToSchema)]
#[schema(as = ErasureReceipt)]
struct Receipt {
    /// Id of the line in the log of changes.
    id: String,
    /// The keyed hash that stands for the id of the person in all lines of the log.
    subject: String,
}

impl ErasureAnswer {
    fn of(erasure: Erasure, now: Instant, rules: &Rules, foreseen: Foreseen) -> Self {
        let Erasure { addresses, preferences, subscriptions, memberships, receipt } = erasure;
        let counts = [
            ("profile", 1),
            ("addresses", addresses),
            ("preferences", preferences),
            ("subscriptions", subscriptions),
            ("memberships", memberships),
        ];
        let stored = Some(now.plus_ms(rules.store.keep_ms));
        let kept = [
            ("events", stored),
            ("messages", stored),
            ("log", Some(now.plus_ms(rules.log.keep_ms))),
            ("suppressions", None),
        ];
        Self {
            erased: counts.into_iter().filter(|(_, count)| *count > 0).collect(),
            kept: kept
                .map(|(what, until)| KeptData { what, until: until.map(|at| at.to_string()) })
                .into(),
            receipt: receipt.map(|of| Receipt { id: of.line, subject: of.subject }),
            dry: foreseen.dry,
            concerns: foreseen.concerns,
        }
    }
}

/// Erase a recipient
///
/// Deletes profile, preferences, subscriptions and marks at once, and puts a keyed hash in the place of the id in the log
/// of changes. Pending notifications end as `cancelled` when they are due. Messages that are already built are not sent
/// any more. Of somebody who is not there `erased` is empty and `receipt` null.
#[utoipa::path(
    delete, path = "/v1/recipients/{id}", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    responses((status = 200, description = "What was deleted, and what is kept", body = ErasureAnswer))
)]
pub(super) async fn erase_recipient(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    _: InQuery<BeforeAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let (now, rules) = (service.now(), service.rules());
    let answer = move |reply, foreseen| match reply {
        Reply::Erased(erasure) => {
            Answer::json(StatusCode::OK, &ErasureAnswer::of(*erasure, now, &rules, foreseen))
        }
        _ => Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind")),
    };
    let dry = change.before.dry.then_some(true);
    match service.change_or_dry(&change, Command::Erase { recipient }, answer).await {
        Err(problem) if problem.code == Code::RecipientNotFound => {
            let concerns = dry.map(|_| Concerned::default());
            let nobody = ErasureAnswer { dry, concerns, ..ErasureAnswer::default() };
            Answer::json(StatusCode::OK, &nobody)
        }
        answered => answered,
    }
}
