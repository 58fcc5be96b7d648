//! The API by this client, with a server.

use std::time::Duration;

use serde_json::json;
use tidings_client::api::{
    DueQuery, ExportQuery, InboxQuery, JoinPushQuery, LeavePushQuery, ListMessagesQuery,
    ListSuppressionsQuery, MyInboxQuery, PreviewQuery,
};
use tidings_client::types::*;
use tidings_client::{Client, Error, LiveEvent, Patch};

use crate::server::Server;

async fn with_ana() -> Option<(Server, Client)> {
    let server = Server::start()?;
    let tidings = server.client();
    tidings
        .recipients()
        .upsert("ana", &RecipientChange::new().email("ana@example.org"))
        .await
        .unwrap();
    Some((server, tidings))
}

fn comment(id: &str, object: &str) -> Event {
    Event::new("comment", object, Audience::new().recipients(["ana"])).id(id)
}

#[tokio::test(flavor = "multi_thread")]
async fn situation_15_a_patch_tells_absent_null_and_a_value_apart() {
    let Some((_server, tidings)) = with_ana().await else { return };
    let name = async || tidings.recipients().get("ana").await.unwrap().name;
    let patch =
        async |change: RecipientChange| tidings.recipients().patch("ana", &change).await.unwrap();
    patch(RecipientChange::new().name("Ana")).await;
    assert_eq!(name().await.as_deref(), Some("Ana"));
    let mut change = RecipientChange::new().tz("Europe/Paris");
    change.name = Patch::Keep;
    patch(change).await;
    assert_eq!(name().await.as_deref(), Some("Ana"));
    patch(RecipientChange::new().name("Anna")).await;
    assert_eq!(name().await.as_deref(), Some("Anna"));
    patch(RecipientChange::new().clear_name()).await;
    assert_eq!(name().await, None);
    let shown = tidings.recipients().get("ana").await.unwrap();
    assert_eq!(
        (shown.tz.as_deref(), shown.email.as_deref()),
        (Some("Europe/Paris"), Some("ana@example.org"))
    );
    patch(
        RecipientChange::new()
            .addresses(Addresses::new().fcm(vec!["a".to_owned(), "b".to_owned()])),
    )
    .await;
    let shown = tidings.recipients().get("ana").await.unwrap();
    assert_eq!(shown.addresses.fcm.unwrap().as_slice(), ["a", "b"]);
    assert_eq!(shown.addresses.email.as_deref(), Some("ana@example.org"));
}

#[tokio::test(flavor = "multi_thread")]
async fn events_and_inboxes() {
    let Some((_server, tidings)) = with_ana().await else { return };
    let events: Vec<Event> =
        (0..30).map(|n| comment(&format!("e{n}"), &format!("o/{n}"))).collect();
    let answers = tidings.events().publish_many(&events).await.unwrap();
    assert!(
        answers
            .iter()
            .all(|one| matches!(one, EventOutcome::PublishedEvent(one) if one.notifications == 1))
    );
    let again = tidings.events().publish(&events[0]).await.unwrap();
    assert_eq!(again.status, PublishedStatus::Duplicate);
    let odd = Event::new("commnt", "o", Audience::new().recipients(["ana"]));
    let answers = tidings.events().publish_many(&[odd]).await.unwrap();
    let EventOutcome::Rejected(rejected) = &answers[0] else { panic!("{answers:?}") };
    assert!(matches!(Error::from(rejected.problem.clone()), Error::UnknownType(_)));

    let mut seen = 0;
    let mut pages = tidings.inbox().list("ana", &InboxQuery::new().limit(7));
    while let Some(group) = pages.next().await.transpose().unwrap() {
        assert_eq!(group.items.len(), 1);
        seen += 1;
    }
    assert_eq!(seen, 30);
    let page = tidings.inbox().page("ana", &InboxQuery::new().limit(7)).await.unwrap();
    assert_eq!((page.groups.len(), page.unseen), (7, 30));
    let newer = InboxQuery::new().since(page.rev);
    assert!(tidings.inbox().newer("ana", &newer).await.unwrap().is_none());
    let of_type = InboxQuery::new().type_(["mailed"]).grouped(true).state("all");
    assert!(tidings.inbox().list("ana", &of_type).all().await.unwrap().is_empty());
    let one = Items::new().event("e1");
    assert_eq!(tidings.inbox().mark_read("ana", &one).await.unwrap().unread, 29);
    assert_eq!(tidings.inbox().mark_unread("ana", &one).await.unwrap().unread, 30);
    tidings.inbox().archive("ana", &one).await.unwrap();
    tidings.inbox().unarchive("ana", &one).await.unwrap();
    tidings.inbox().snooze("ana", &one.clone().for_("1h")).await.unwrap();
    tidings.inbox().unsnooze("ana", &one).await.unwrap();
    tidings.inbox().delete("ana", &one).await.unwrap();
    let counts = tidings.inbox().mark_seen("ana", &Items::new().all(true)).await.unwrap();
    assert_eq!((counts.unseen, counts.categories["conversations"].unseen), (0, 0));
    assert_eq!(
        tidings
            .inbox()
            .counts("ana", &tidings_client::api::CountsQuery::new())
            .await
            .unwrap()
            .unseen,
        0
    );

    let told = tidings.events().get("e2").await.unwrap();
    assert_eq!(told.event.object.id, "o/2");
    assert_eq!(told.channels["inbox"].entries, 1);
    assert_eq!(
        tidings
            .events()
            .withdraw("e2", &tidings_client::types::OfTenant::new())
            .await
            .unwrap()
            .withdrawn,
        1
    );
    tidings.events().cancel("e3", &tidings_client::types::OfTenant::new()).await.unwrap();
    let key = CancelKey::new("nothing");
    assert_eq!(tidings.events().cancel_all(&key).await.unwrap().cancelled, 0);
    tidings.events().withdraw_all(&key).await.unwrap();
    let published = Explain::new("e4").recipient("ana");
    let explained = tidings.events().explain(&published).await.unwrap();
    assert!(
        matches!(&explained, Explanation::Explained(of) if !of.steps.is_empty() && !of.channels.is_empty())
    );
    let hypothetical = Explain::new(comment("x", "o")).recipient("ana");
    let supposed = tidings.events().explain(&hypothetical).await.unwrap();
    assert!(matches!(supposed, Explanation::Explained(of) if of.supposed));
    let audience = tidings.events().explain(&Explain::new("e4")).await.unwrap();
    assert!(matches!(audience, Explanation::ExplainedAudience(of) if of.concerned > 0));
    let error = tidings.events().get("none").await.unwrap_err();
    assert!(matches!(error, Error::EventNotFound(_)) && error.request_id().is_some(), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_is_followed() {
    let Some((_server, tidings)) = with_ana().await else { return };
    let mut live = tidings.inbox().live("ana", &tidings_client::api::LiveQuery::new());
    let Some(Ok(LiveEvent::Hello(hello))) = live.next().await else { panic!("no hello") };
    assert_eq!(hello.counts.unseen, 0);
    tidings.events().publish(&comment("e", "o")).await.unwrap();
    let Some(Ok(LiveEvent::Inbox(change))) = live.next().await else { panic!("no change") };
    assert_eq!((change.counts.unseen, change.changed.len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_open_what_their_scope_says() {
    let Some((server, tidings)) = with_ana().await else { return };
    tidings.events().publish(&comment("e", "o")).await.unwrap();
    let of = |scope| {
        let token = tidings.sign_token("ana", Duration::from_secs(60), scope).unwrap();
        server.through(&server.url).key(token).build().unwrap()
    };
    let mine = of(Some("inbox:read"));
    assert_eq!(
        mine.me().counts(&tidings_client::api::MyInboxCountsQuery::new()).await.unwrap().unseen,
        1
    );
    assert_eq!(mine.me().inbox(&MyInboxQuery::new()).all().await.unwrap().len(), 1);
    let error = mine.me().mark_seen(&Items::new().all(true)).await.unwrap_err();
    assert!(matches!(error, Error::Scope(_)), "{error}");
    let mine = of(None);
    assert_eq!(mine.me().mark_seen(&Items::new().all(true)).await.unwrap().unseen, 0);
    assert!(!mine.me().preferences().await.unwrap().choices.is_empty());
    let never = Preference::new().channel("inbox").mode("never").category("conversations");
    mine.me().patch_preferences(vec![never]).await.unwrap();
    mine.me().follow("artist/5 & co").await.unwrap();
    assert_eq!(mine.me().subscriptions().await.unwrap().topics, ["artist/5 & co"]);
    assert!(matches!(mine.me().follow("other").await, Err(Error::TopicNotOpen(_))));
    mine.me().unfollow("artist/5 & co").await.unwrap();
    mine.me()
        .flush(&tidings_client::api::FlushMineQuery::new(), &FlushLimits::new())
        .await
        .unwrap();
    mine.me().pending(&tidings_client::api::MyPendingQuery::new()).await.unwrap();
    let of_nobody = tidings.signing_key().unwrap().for_tenant("nobody");
    let token = of_nobody.sign_token("ana", Duration::from_secs(60), None).unwrap();
    let unknown = server.through(&server.url).key(token).build().unwrap();
    let query = tidings_client::api::MyInboxCountsQuery::new();
    assert!(matches!(unknown.me().counts(&query).await, Err(Error::TokenTenant(_))));
    let signed = tidings.admin().sign_token(&TokenToSign::new("ana").for_("5m")).await.unwrap();
    let signed = server.through(&server.url).key(signed.token).build().unwrap();
    signed.me().counts(&tidings_client::api::MyInboxCountsQuery::new()).await.unwrap();
    tidings.recipients().revoke_tokens("ana", &TokensToRevoke::new()).await.unwrap();
    assert!(matches!(
        signed.me().counts(&tidings_client::api::MyInboxCountsQuery::new()).await,
        Err(Error::TokenRevoked(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn people_objects_and_what_they_choose() {
    let Some((_server, tidings)) = with_ana().await else { return };
    let people = [NamedRecipient::new("ben"), NamedRecipient::new("bad").tz("Nowhere")];
    let answers = tidings.recipients().patch_many(&people).await.unwrap();
    assert!(matches!((&answers[0], &answers[1]), (ItemAnswer::Done(_), ItemAnswer::Rejected(_))));
    let lines = [NamedRecipient::new("a/1"), NamedRecipient::new("a/2").tz("Nowhere")];
    let imported = tidings.recipients().import(lines).run().await.unwrap();
    assert_eq!((imported.lines, imported.done, imported.rejected[0].line), (2, 1, Some(2)));
    tidings
        .objects()
        .upsert("o/1", &ObjectChange::new().title("One").data(json!({"a": 1})))
        .await
        .unwrap();
    tidings.objects().upsert_many(&[NamedObject::new("o/2")]).await.unwrap();
    let stream = futures_util::stream::iter([NamedObject::new("o/3")]);
    assert_eq!(tidings.objects().import_stream(stream).run().await.unwrap().done, 1);
    tidings.objects().retract("o/3").await.unwrap();
    tidings.subscriptions().follow("ana", "artist/1").await.unwrap();
    tidings.subscriptions().follow_many(&[Subscription::new("ana", "artist/2")]).await.unwrap();
    tidings.subscriptions().import([Subscription::new("ana", "artist/3")]).run().await.unwrap();
    tidings.subscriptions().unfollow("ana", "artist/1").await.unwrap();
    assert_eq!(tidings.subscriptions().list("ana").await.unwrap().topics, ["artist/2", "artist/3"]);
    let never = Preference::new().channel("inbox").mode("never").type_("comment");
    tidings.preferences().replace("ana", &[never]).await.unwrap();
    assert_eq!(tidings.preferences().get("ana").await.unwrap()[0].mode.as_deref(), Some("never"));
    let hours = PreferencesAndHours::new()
        .quiet_hours(QuietHours::new("22:00", "07:00").days([Weekday::Mon]));
    tidings.preferences().patch("ana", hours).await.unwrap();
    let all = tidings.preferences().choices("ana").await.unwrap();
    assert!(
        matches!(all.quiet_hours, Some(QuietHoursChoiceOut::QuietHours(hours)) if hours.from == "22:00")
    );
    tidings.recipients().erase("ben").await.unwrap();
    assert!(matches!(tidings.recipients().get("ben").await, Err(Error::RecipientNotFound(_))));
    let push = PushSubscription::new("https://push.example.org/1", PushKeys::new("x", "y"));
    assert!(
        tidings.recipients().add_push("ana", &JoinPushQuery::new(), &push).await.is_err(),
        "the keys are none"
    );
    tidings
        .recipients()
        .remove_push(
            "ana",
            &LeavePushQuery::new(),
            &GonePushSubscription::new("https://push.example.org/1"),
        )
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_operating() {
    let Some((_server, tidings)) = with_ana().await else { return };
    let mailed = Event::new("mailed", "o", Audience::new().recipients(["ana"])).id("m");
    tidings.events().publish(&mailed).await.unwrap();
    let pending =
        tidings.pending().list("ana", &tidings_client::api::PendingQuery::new()).await.unwrap();
    assert_eq!(pending.lanes[0].entries.len(), 1);
    assert!(tidings.messages().preview("ana", &PreviewQuery::new()).await.unwrap().mail.is_some());
    assert_eq!(
        tidings
            .pending()
            .flush(
                "ana",
                &tidings_client::api::FlushQuery::new(),
                &FlushLimits::new().channel("email")
            )
            .await
            .unwrap()
            .lanes,
        1
    );
    let of_ana = ListMessagesQuery::new().recipient("ana").channel("email");
    let message = loop {
        let mut messages = tidings.messages().list(&of_ana);
        match messages.next().await.transpose().unwrap() {
            Some(message) if message.state == "sent" || message.state == "delivered" => {
                break message;
            }
            _ => tokio::task::yield_now().await,
        }
    };
    let details = tidings.messages().get(&message.id).await.unwrap();
    assert_eq!((details.id.as_str(), details.items[0].event.as_str()), (message.id.as_str(), "m"));
    assert!(tidings.messages().retry(&message.id).await.is_err());
    let late = tidings.messages().cancel(&message.id).await.unwrap();
    assert_eq!(late.cancelled, 0);
    tidings.messages().resend(&message.id).await.unwrap();
    tidings.messages().page(&of_ana).await.unwrap();

    tidings.suppressions().add("email", "x+y@example.org", &Suppression::new()).await.unwrap();
    let shown = tidings.suppressions().get("email", "x+y@example.org").await.unwrap();
    assert_eq!(shown.reason, SuppressionReason::Manual);
    let all =
        tidings.suppressions().list(&ListSuppressionsQuery::new().limit(1)).all().await.unwrap();
    assert_eq!(all.len(), 1);
    tidings.suppressions().remove("email", "x+y@example.org").await.unwrap();

    tidings.configuration().pause_type("comment").await.unwrap();
    tidings.configuration().pause_channel("email").await.unwrap();
    assert!(tidings.configuration().types().await.unwrap().types["comment"].paused);
    tidings.configuration().resume_type("comment").await.unwrap();
    tidings.configuration().resume_channel("email").await.unwrap();

    let status = tidings.admin().status().await.unwrap();
    assert_eq!(status.recipients, 1);
    tidings.admin().due(&DueQuery::new().scheduled(5)).await.unwrap();
    let made = tidings.admin().make_key(&KeyToMake::new().name("x").role("read")).await.unwrap();
    assert!(made.key.is_some() && made.role == RoleName::Read);
    assert_eq!(tidings.admin().list_keys().await.unwrap().keys.len(), 2);
    tidings.admin().revoke_key(&made.id).await.unwrap();
    let made = tidings.admin().make_signing_key(&SigningKeyToMake::new().name("x")).await.unwrap();
    assert_eq!(tidings.admin().list_signing_keys().await.unwrap().keys.len(), 2);
    tidings.admin().revoke_signing_key(&made.id).await.unwrap();
    tidings.admin().forget(&ForgetDays::new("2020-01-01")).await.unwrap();
    let lines = tidings.admin().export(&ExportQuery::new().days(1)).all().await.unwrap();
    assert!(lines.iter().any(|line| line["op"] == "publish" || line["id"] == "m"), "{lines:?}");
    let pieces = tidings.admin().backup().all().await.unwrap();
    assert!(pieces.iter().map(|piece| piece.len()).sum::<usize>() > 1_000);

    assert!(tidings.server().ready().await.is_ok());
    assert!(tidings.server().metrics().await.unwrap().contains("tidings_"));
    assert!(tidings.server().error("scope").await.unwrap().contains("scope"));
    assert_eq!(tidings.server().openapi().await.unwrap()["info"]["title"], "tidings");
    tidings.server().nodes().await.unwrap();
    let call = tidings.call(http::Method::GET, "/v1/recipients/ana".to_owned());
    assert_eq!(call.answer::<RecipientProfile>().await.unwrap().id, "ana");
}
