//! The concepts of the API as plain, checked data: nothing here decides.

pub(crate) mod batch_key;
pub(crate) mod changes;
pub(crate) mod channel;
pub(crate) mod command;
pub(crate) mod data;
pub(crate) mod event;
pub(crate) mod explanation;
pub(crate) mod id;
pub(crate) mod item;
pub(crate) mod limits;
pub(crate) mod messages;
pub(crate) mod number;
pub(crate) mod occurrence;
pub(crate) mod pause;
pub(crate) mod preference;
pub(crate) mod reason;
pub(crate) mod recipient;
pub(crate) mod suppression;
pub(crate) mod tenant;
pub(crate) mod time;
pub(crate) mod topic;

pub use batch_key::{BatchKey, BatchKeyTooLong, BatchKeys, KeyTooLong, LaneKey};
pub use changes::{
    Author, AuthorKind, ChangeId, ChangeIdError, ChangeLine, ChangeSubject, ChangedField, Origin,
    Role, SubjectKind, Via,
};
pub use channel::{
    AddressKind, CHANNEL_KINDS, CHANNELS, ChannelKind, ChannelNo, EACH_CHANNEL, EMAIL, EMAIL_NO,
    INBOX, Mailbox, NotAMailbox, Subscription, SubscriptionKeys, channel_kind, channel_no,
    sending_channels, telegram_chat,
};
pub use command::{
    Cancelled, Choice, Command, ItemChange, MarkKind, Marked, PauseSubject, Timed, TypeFilter,
};
pub use data::Data;
pub use event::host_text::HostText;
pub use event::trace::{NoTrace, Trace};
pub use event::{Audience, Event, GeoCircle, ImageSize, Object, Pivot, Score};
pub use explanation::{ChannelPath, EntryState, Explanation, ExplanationStep, Rule};
pub use id::{BucketNo, ID_BYTES_MAX, Id, IdError};
pub use item::{ItemState, Return, Shelf, StoredItem};
pub use limits::{Bound, ExceededBound, GrowingValue, Limits, REASON_BYTES_MAX, TooLarge};
pub use messages::jobs::{
    JobNo, JobNoError, JobState, LeftAsItWas, MessageSet, MessagesOfClosing, NewJob,
};
pub use messages::{
    Answered, Attempt, AttemptRun, MessageAct, MessageName, MessageNameError, MessageState,
};
pub use number::{ClosingId, EventNo, LaneNo, MessageId, RecipientNo, Seq, TenantNo, TypeNo};
pub use occurrence::{
    ChangedBy, HookChange, MessageOccurrence, MessageTurn, Occurrence, OccurrenceKind,
    OccurrenceOwner, OccurrencePlace, OccurrenceRow,
};
pub use pause::Paused;
pub use preference::{ALL_CATEGORIES, Mode, OwnTimes, PreferenceScope, SlotDay, WEEKDAYS};
pub use reason::{Ending, Outcome, Reason};
pub use recipient::{
    Addresses, GivenAddress, OwnHours, Recipient, RecipientChange, RecipientState,
};
pub use suppression::{
    AddressReport, ChannelAddress, NotAnAddress, ProviderHash, SuppressedFor, Suppression,
    SuppressionSource,
};
pub use tenant::{BrandChange, KnownTenant, Tenant, TenantChange, TenantTerms, View};
pub use time::{
    DAY_MS, Day, HOUR_MS, Instant, MINUTE_MS, SECOND_MS, TimeError, WallTime, duration_text,
};
pub use topic::{TopicError, check_topic, followed_paths};
