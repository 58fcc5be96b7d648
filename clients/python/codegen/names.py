"""Names of methods: where a call stands in the client. Others are named by their tag and id."""

from __future__ import annotations

# The id of a call, the resource and the method. A call that has pages gets three methods.
METHODS = {
    "backup": ("admin", "backup"),
    "export": ("admin", "export"),
    "list_keys": ("admin", "list_keys"),
    "list_types": ("types", "list"),
    "pause_type": ("types", "pause"),
    "resume_type": ("types", "resume"),
    "pause_channel": ("channels", "pause"),
    "resume_channel": ("channels", "resume"),
    "publish": ("events", "publish"),
    "get_event": ("events", "get"),
    "cancel_event": ("events", "cancel"),
    "withdraw_event": ("events", "withdraw"),
    "cancel_all": ("events", "cancel_all"),
    "withdraw": ("events", "withdraw_all"),
    "get_recipient": ("recipients", "get"),
    "put_recipient": ("recipients", "upsert"),
    "patch_recipient": ("recipients", "patch"),
    "erase_recipient": ("recipients", "erase"),
    "export_recipient": ("recipients", "export"),
    "change_recipients": ("recipients", "change"),
    "list_subscriptions": ("subscriptions", "list"),
    "follow_many": ("subscriptions", "follow"),
    "get_preferences": ("preferences", "get"),
    "put_preferences": ("preferences", "replace"),
    "patch_preferences": ("preferences", "patch"),
    "put_object": ("objects", "upsert"),
    "retract_object": ("objects", "retract"),
    "change_objects": ("objects", "change"),
    "inbox": ("inbox", "list"),
    "delete_items": ("inbox", "delete"),
    "my_inbox": ("me", "inbox"),
    "my_inbox_counts": ("me", "inbox_counts"),
    "archive_mine": ("me", "archive"),
    "unarchive_mine": ("me", "unarchive"),
    "snooze_mine": ("me", "snooze"),
    "unsnooze_mine": ("me", "unsnooze"),
    "mark_mine_seen": ("me", "mark_seen"),
    "mark_mine_read": ("me", "mark_read"),
    "mark_mine_unread": ("me", "mark_unread"),
    "delete_my_items": ("me", "delete"),
    "my_live": ("me", "live"),
    "my_pending": ("me", "pending"),
    "flush_mine": ("me", "flush"),
    "my_preferences": ("me", "preferences"),
    "patch_my_preferences": ("me", "patch_preferences"),
    "join_my_push": ("me", "join_push"),
    "leave_my_push": ("me", "leave_push"),
    "my_subscriptions": ("me", "subscriptions"),
    "follow_mine": ("me", "follow"),
    "unfollow_mine": ("me", "unfollow"),
    "list_messages": ("messages", "list"),
    "get_message": ("messages", "get"),
    "cancel_message": ("messages", "cancel"),
    "resend_message": ("messages", "resend"),
    "retry_message": ("messages", "retry"),
    "preview_message": ("messages", "preview_message"),
    "cancel_messages": ("messages", "cancel_many"),
    "resend_messages": ("messages", "resend_many"),
    "retry_messages": ("messages", "retry_many"),
    "list_suppressions": ("suppressions", "list"),
    "suppress": ("suppressions", "add"),
    "unsuppress": ("suppressions", "remove"),
    "get_suppression": ("suppressions", "get"),
    "pending": ("pending", "get"),
    "get_error": ("operating", "error"),
    "list_nodes": ("operating", "nodes"),
    "list_feeds": ("feeds", "list"),
    "pause_feed": ("feeds", "pause"),
    "resume_feed": ("feeds", "resume"),
    "list_hooks": ("hooks", "list"),
    "replay_hook": ("hooks", "replay"),
    "resume_hook": ("hooks", "resume"),
    "list_tenants": ("tenants", "list"),
    "put_tenant": ("tenants", "upsert"),
    "put_member": ("tenants", "add_member"),
    "change_tenants": ("tenants", "change"),
    "list_members": ("tenants", "members"),
    "list_event_recipients": ("events", "recipients"),
    "list_followers": ("subscriptions", "followers"),
    "list_parked": ("feeds", "parked"),
}

# Resources that are no tag of the document.
ABOUT = {
    "channels": "Pause and resume channels",
    "feeds": "Outboxes of the application's databases: list, pause and resume them",
    "hooks": "Hooks to the application: list them, and send again",
    "types": "List, pause and resume types",
}

# Calls that take many and say so in their name: it does not end with `_many`.
MANY = {"change_members"}

# Calls whose answer is another one with this parameter: a method of its own.
CHOICES = {"get_preferences": "choices"}

# Calls that always answer an object, though others with the same answer may answer a list.
OBJECTS = {"my_preferences": "choices"}


def place(operation: str, tag: str) -> tuple[str, str]:
    """Returns the resource and the method of a call."""
    if operation in METHODS:
        return METHODS[operation]
    one = tag.removesuffix("s")
    words = [word for word in operation.split("_") if word not in (one, tag)]
    return tag, "_".join(words) or operation


def parameter(path: str, name: str) -> str:
    """Returns the name of a parameter of a path: an `id` is named by what it is the id of."""
    if name != "id":
        return name
    before = path.split("/{id}")[0].rsplit("/", 1)[-1]
    return before.removesuffix("s").replace("-", "_")
