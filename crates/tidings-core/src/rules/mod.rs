//! The rules of a configuration, compiled, and the deadlines that follow from them.

pub(crate) mod calendar;
pub(crate) mod compiled;
pub(crate) mod deadline;
pub(crate) mod lane_kind;
mod lane_name;
pub(crate) mod names;
pub(crate) mod presentation;
pub(crate) mod schema;
mod tenant;

mod channel;
mod config;
mod console;
mod digest;
mod hook;
mod network;

pub use calendar::{
    DeadlineGroup, PersonCalendar, Zone, anywhere, checksum, delay_ms, next_slot, quiet_until,
};
pub use channel::{AllowedAddresses, ChannelRules, DkimRules, QuietHours, Rate};
pub use compiled::{Condition, RulesVersion, Type};
pub use config::{
    Admission, AdmissionKeyPart, Cap, Category, CompatCallRules, Decide, Defaults, FeedRules,
    FeedbackRules, FiguresRules, LogRules, MAX_ITEMS_MOST, OnRefusal, Policy, ResolverRules, Route,
    Rules, StoreRules, TelemetryRules, TypeRules, UnknownOutcome, UnresolvedFate, UsersRules,
    capitalised, in_words,
};
pub use console::{
    CONSOLE_PATH, ConsoleProxy, ConsoleRoles, ConsoleRules, ConsoleUrl, HeaderProxy, JwtProxy,
};
pub use deadline::{EnteredEntry, OpenWindow, Window, due};
pub use digest::{ChoosableTimes, Digest, Every, HOURS, QUARTER_MINUTES};
pub use hook::HookRules;
pub use lane_kind::{LaneKind, PolicyParameters};
pub use lane_name::{REQUIRED, lane_stem};
pub use names::{LaneName, NumberedName, NumberedNames};
pub use network::Network;
pub use presentation::{
    Brand, ChoiceOrder, FormOfAddress, Presentation, Quota, Share, Texts, Wording,
};
pub use schema::{DataCheck, DataFault, DataSchema};
pub use tenant::{TenantRules, UnknownTenant};
