"""All calls, by what they concern.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from ..transport import AsyncTransport
from .admin import AsyncAdmin
from .channels import AsyncChannels
from .events import AsyncEvents
from .feeds import AsyncFeeds
from .hooks import AsyncHooks
from .inbox import AsyncInbox
from .me import AsyncMe
from .messages import AsyncMessages
from .objects import AsyncObjects
from .operating import AsyncOperating
from .pending import AsyncPending
from .preferences import AsyncPreferences
from .recipients import AsyncRecipients
from .subscriptions import AsyncSubscriptions
from .suppressions import AsyncSuppressions
from .tenants import AsyncTenants
from .types import AsyncTypes


class AsyncResources:
    """All calls, by what they concern."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.admin = AsyncAdmin(transport)
        self.channels = AsyncChannels(transport)
        self.events = AsyncEvents(transport)
        self.feeds = AsyncFeeds(transport)
        self.hooks = AsyncHooks(transport)
        self.inbox = AsyncInbox(transport)
        self.me = AsyncMe(transport)
        self.messages = AsyncMessages(transport)
        self.objects = AsyncObjects(transport)
        self.operating = AsyncOperating(transport)
        self.pending = AsyncPending(transport)
        self.preferences = AsyncPreferences(transport)
        self.recipients = AsyncRecipients(transport)
        self.subscriptions = AsyncSubscriptions(transport)
        self.suppressions = AsyncSuppressions(transport)
        self.tenants = AsyncTenants(transport)
        self.types = AsyncTypes(transport)
