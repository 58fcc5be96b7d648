//! The addresses of a recipient, by channel: the fields and their forms derive from the table of channels.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_config::wording::quoted;
use tidings_core::Id;
use tidings_core::engine::TenantDirectory;
use tidings_core::model::{
    AddressKind, Addresses, CHANNELS, ChannelKind, ChannelNo, GivenAddress, channel_kind,
    sending_channels,
};
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::fault::Fault;
use super::text::FromText as _;

/// Changed addresses by channel; an empty list removes them.
pub struct AddressesChange(pub(super) BTreeMap<ChannelNo, Vec<GivenAddress>>);

/// Addresses as answers show them.
#[derive(Serialize)]
#[serde(transparent)]
pub struct ShownAddresses(BTreeMap<&'static str, Value>);

static NAMES: [&str; CHANNELS.len()] = CHANNELS;

impl<'de> Deserialize<'de> for AddressesChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = AddressesChange;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AddressesChange, A::Error> {
                let mut given = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let known =
                        channel_kind(&name).and_then(|channel| Some((channel, channel.address?)));
                    let (channel, kind) =
                        known.ok_or_else(|| A::Error::unknown_field(&name, &NAMES[1..]))?;
                    given.insert(channel.number, map.next_value_seed(AddressesOfKind(kind))?);
                }
                Ok(AddressesChange(given))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Reads the addresses of a kind: null, one, or a list if the channel allows several.
#[derive(Clone, Copy)]
pub(super) struct AddressesOfKind(pub(super) AddressKind);

impl AddressesOfKind {
    fn one(self, text: &str) -> Result<Vec<GivenAddress>, Fault> {
        let read = self.text(text)?;
        let tenant = match self.0 {
            AddressKind::WebPush => tenant_in(text)?,
            _ => None,
        };
        Ok(vec![GivenAddress { text: read, tenant }])
    }

    fn text(self, text: &str) -> Result<String, Fault> {
        let Self(kind) = self;
        kind.read(text).ok_or_else(|| {
            let hint = format!("write `{}`, or null for no address", kind.form());
            let what = match kind {
                AddressKind::Slack => "the id of a channel or member, or the address of a webhook",
                _ => "an address",
            };
            let got = quoted(text);
            let reason = match kind.fault(text) {
                Some(why) => format!("must be {what}, got {got}: {why}"),
                None => format!("must be {what}, got {got}"),
            };
            Fault::new(reason, hint)
        })
    }
}

/// The tenant that a browser's subscription names among a recipient's addresses.
fn tenant_in(subscription: &str) -> Result<Option<Id>, Fault> {
    let given: Value = serde_json::from_str(subscription).unwrap_or_default();
    let fault = |what: &str, hint: String| Fault::new(format!("has a `tenant` that {what}"), hint);
    match given.get("tenant") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => {
            Id::from_text(id).map(Some).map_err(|Fault { reason, hint, .. }| fault(&reason, hint))
        }
        Some(_) => Err(fault("must be an id", "write the id of a tenant".to_owned())),
    }
}

impl<'de> DeserializeSeed<'de> for AddressesOfKind {
    type Value = Vec<GivenAddress>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AddressesOfKind {
    type Value = Vec<GivenAddress>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.0, self.0.most()) {
            (AddressKind::WebPush, _) => "a subscription or a list of them",
            (_, 1) => "text",
            _ => "text or a list of texts",
        })
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.one(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let object = Value::deserialize(MapAccessDeserializer::new(map))?;
        self.one(&object.to_string()).map_err(A::Error::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        let most = self.0.most();
        if most == 1 {
            let reason = "must be one address, got a list";
            let fault = Fault::new(reason, format!("write `{}`", self.0.form()));
            return Err(A::Error::custom(fault));
        }
        let list = Vec::<Value>::deserialize(SeqAccessDeserializer::new(seq))?;
        let mut all: Vec<GivenAddress> = Vec::with_capacity(list.len());
        let mut by_tenant: BTreeMap<Option<Id>, usize> = BTreeMap::new();
        for item in list {
            let text = match item {
                Value::String(text) => text,
                other => other.to_string(),
            };
            for read in self.one(&text).map_err(A::Error::custom)? {
                *by_tenant.entry(read.tenant.clone()).or_default() += 1;
                if !all.contains(&read) {
                    all.push(read);
                }
            }
        }
        let in_all = all.len();
        let most_of_all = self.0.most_of_all_tenants();
        if in_all > most_of_all {
            let reason = format!("has {in_all} addresses of all tenants, {most_of_all} at most");
            return Err(A::Error::custom(Fault::new(reason, "leave out the oldest")));
        }
        if let Some((_, count)) = by_tenant.into_iter().find(|(_, count)| *count > most) {
            let reason = format!("has {count} addresses, {most} at most");
            let fault = Fault::new(reason, "leave out the oldest");
            return Err(A::Error::custom(fault));
        }
        Ok(all)
    }
}

impl ShownAddresses {
    /// The addresses of a recipient, without those for deleted tenants.
    #[must_use]
    pub fn of(addresses: &Addresses, tenants: TenantDirectory<'_>) -> Self {
        let of = |channel: &'static ChannelKind| {
            let kind = channel.address?;
            let mut all = addresses.views(channel.number).filter_map(|(text, tenant)| {
                let tenant = tenant.map(|number| tenants.id(number).ok_or(()));
                let tenant = tenant.transpose().ok()?;
                let mut shown = match kind {
                    // It is JSON that was read before.
                    AddressKind::WebPush => serde_json::from_str(text).unwrap_or_default(),
                    _ => Value::from(text),
                };
                if let (Some(tenant), Value::Object(shown)) = (tenant, &mut shown) {
                    shown.insert("tenant".to_owned(), Value::from(tenant.as_str()));
                }
                Some(shown)
            });
            let shown = match kind.most() {
                1 => all.next()?,
                _ => Value::Array(all.collect()),
            };
            (shown != Value::Array(Vec::new())).then_some((channel.name, shown))
        };
        Self(sending_channels().filter_map(of).collect())
    }
}

/// A browser's Web Push subscription, the result of `JSON.stringify(subscription)`; `expirationTime` is ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by the core; this is what the document says of it")]
#[schema(example = json!({"endpoint": "https://push.example.net/send/1", "keys": {"p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", "auth": "tBHItJI5svbpez7KI4CCXg"}}))]
pub struct PushSubscription {
    /// Address of the browser's push service.
    endpoint: String,
    /// Keys of the browser.
    keys: PushKeys,
}

/// A browser's Web Push subscription among a recipient's addresses.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by the core; this is what the document says of it")]
#[schema(example = json!({"endpoint": "https://push.example.net/send/1", "keys": {"p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", "auth": "tBHItJI5svbpez7KI4CCXg"}, "tenant": "acme"}))]
struct PushAddress {
    /// Address of the browser's push service.
    endpoint: String,
    /// Keys of the browser.
    keys: PushKeys,
    /// The tenant whose messages it gets, beside those without a tenant; absent = all messages.
    #[schema(required = false)]
    tenant: Option<String>,
}

/// A browser's subscription as it is stored.
pub struct StoredBrowserSubscription(pub String);

impl<'de> Deserialize<'de> for StoredBrowserSubscription {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Value::deserialize(deserializer)?;
        let read = AddressesOfKind(AddressKind::WebPush).text(&object.to_string());
        read.map(Self).map_err(D::Error::custom)
    }
}

/// A browser's subscription that ends; its endpoint is enough.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"endpoint": "https://push.example.net/send/1"}))]
pub struct GonePushSubscription {
    /// Address of the browser's push service.
    pub endpoint: String,
}

/// Keys of a browser, in base64url.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by the core; this is what the document says of it")]
struct PushKeys {
    /// Public key.
    p256dh: String,
    /// Authentication secret.
    auth: String,
}

/// The schema of the addresses of a channel.
fn schema_of(channel: &ChannelKind, kind: AddressKind) -> Schema {
    let about = Some(format!("Address of the {} channel.", channel.title));
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let many = Some(kind.most());
    let any = OneOfBuilder::new().description(about.clone());
    let null = ObjectBuilder::new().schema_type(Type::Null);
    match (kind, kind.most()) {
        (AddressKind::WebPush, _) => {
            let one = || Ref::from_schema_name(PushAddress::name());
            // Of each tenant there may be as many.
            let list = ArrayBuilder::new().items(one());
            any.item(null).item(one()).item(list).into()
        }
        (_, 1) => {
            let types = SchemaType::Array(vec![Type::String, Type::Null]);
            text().schema_type(types).description(about).into()
        }
        _ => {
            let list = ArrayBuilder::new().items(text()).max_items(many);
            any.item(null).item(text()).item(list).into()
        }
    }
}

fn schema(about: &str) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new()
        .description(Some(about))
        .additional_properties(Some(AdditionalProperties::FreeForm(false)));
    for channel in sending_channels() {
        if let Some(kind) = channel.address {
            object = object.property(channel.name, schema_of(channel, kind));
        }
    }
    object.into()
}

impl PartialSchema for AddressesChange {
    fn schema() -> RefOr<Schema> {
        schema("Addresses by channel; null removes those of one.")
    }
}

impl ToSchema for AddressesChange {
    fn name() -> std::borrow::Cow<'static, str> {
        "Addresses".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        subscription(schemas);
    }
}

impl PartialSchema for ShownAddresses {
    fn schema() -> RefOr<Schema> {
        schema("Addresses by channel.")
    }
}

impl ToSchema for ShownAddresses {
    fn name() -> std::borrow::Cow<'static, str> {
        "AddressesShown".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        subscription(schemas);
    }
}

/// Adds the schemas that those of addresses refer to.
fn subscription(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((PushAddress::name().into(), PushAddress::schema()));
    PushAddress::schemas(schemas);
}
