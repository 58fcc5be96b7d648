//! Conditions of types, evaluated before sending: the published event against the present state.
//!
//! The part of a condition without `recipient` is evaluated once for all recipients of an arrival.

use roaring::RoaringBitmap;

use crate::bucket::Bucket;
use crate::cel::{EvaluationFailure, Value, of_entered, of_object, of_recipient, of_tenant};
use crate::engine::intake::state::Intake;
use crate::engine::replies::unanswered::UnansweredCondition;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::model::id::Id;
use crate::model::number::RecipientNo;
use crate::model::time::Instant;
use crate::rules::compiled::Type;

/// The recipients of an arrival by the answer of the condition of its type; of all others it is true.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConditionAnswers {
    /// It is false.
    pub(crate) untrue: RoaringBitmap,
    /// It has no answer.
    pub(crate) unanswered: RoaringBitmap,
    why: Option<EvaluationFailure>,
}

impl ConditionAnswers {
    fn note(&mut self, recipients: RoaringBitmap, answer: Result<bool, EvaluationFailure>) {
        match answer {
            Ok(true) => {}
            Ok(false) => self.untrue |= recipients,
            Err(failed) => {
                self.unanswered |= recipients;
                self.why = Some(failed);
            }
        }
    }

    /// The report on entries that end because there is no answer.
    pub(crate) fn report(
        &self,
        event: &Id,
        of_type: &Type,
        entries: u64,
    ) -> Option<UnansweredCondition> {
        let condition = of_type.condition.as_ref()?;
        Some(UnansweredCondition {
            event: event.clone(),
            event_type: of_type.name.clone(),
            condition: condition.text.clone(),
            why: self.why.filter(|_| entries > 0)?,
            entries,
        })
    }
}

/// Asks the condition of a type, if it has one, about the entries of an arrival at an instant.
pub(crate) fn ask(
    draft: &Draft<'_>,
    intake: &Intake,
    bucket: &Bucket,
    of_type: &Type,
    kept: &StoredArrival,
    now: Instant,
    recipients: &RoaringBitmap,
) -> Result<ConditionAnswers, Unreadable> {
    let mut answers = ConditionAnswers::default();
    let Some(condition) = of_type.condition.as_ref().filter(|_| !recipients.is_empty()) else {
        return Ok(answers);
    };
    // A type that has a condition comes from rules, so there are some.
    let Some(defaults) = intake.rules().map(|rules| &rules.defaults) else {
        return Ok(answers);
    };
    let arrival = &kept.arrival;
    let event = intake.event(draft, arrival.at.day(), arrival.event)?;
    let now_of = |id| intake.objects.now(draft, id);
    let object = if condition.asks("object") { Some(now_of(&event.object.id)?) } else { None };
    let target = event.target.as_ref().filter(|_| condition.asks("target"));
    let target = target.map(|target| now_of(&target.id)).transpose()?;
    let role = |object| Option::map_or_else(object, Value::empty, of_object);
    let tenant = arrival.tenant.and_then(|tenant| intake.tenants.get(tenant));
    let of_event = tenant.map_or_else(Value::empty, |known| of_tenant(&known.id, &known.tenant));
    let tenant = tenant.map(|known| &known.tenant);
    let mut names = vec![
        ("event", of_entered(&event, arrival.t)),
        ("object", role(object.as_deref())),
        ("target", role(target.as_deref())),
        ("tenant", of_event),
        ("now", Value::Timestamp(now)),
    ];
    let once = condition.once.as_ref().map_or(Ok(true), |once| once.holds(&names));
    // A false part ends it for everybody. A failure does not: the other part may be false, which counts
    // more.
    let each = condition.each.as_ref().filter(|_| once != Ok(false));
    let Some(each) = each else {
        answers.note(recipients.clone(), once);
        return Ok(answers);
    };
    for number in recipients {
        // The check for erased recipients comes before conditions.
        let Some(profile) = bucket.roster.profile(RecipientNo(number)) else {
            continue;
        };
        let tz = profile.tz.as_ref().or_else(|| tenant?.tz.as_ref());
        let locale = profile.locale.as_ref().or_else(|| tenant?.locale.as_ref());
        let (tz, locale) = (tz.unwrap_or(&defaults.tz), locale.unwrap_or(&defaults.locale));
        names.push(("recipient", of_recipient(profile, tz, locale)));
        let answer = each.holds(&names);
        // As with `&&`, what is false makes up for a failure.
        let answer = answer.and_then(|holds| if holds { once } else { Ok(false) });
        answers.note([number].into(), answer);
        names.pop();
    }
    Ok(answers)
}
