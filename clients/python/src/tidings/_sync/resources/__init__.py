"""All calls, by what they concern.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from ..transport import Transport
from .admin import Admin
from .channels import Channels
from .events import Events
from .feeds import Feeds
from .hooks import Hooks
from .inbox import Inbox
from .me import Me
from .messages import Messages
from .objects import Objects
from .operating import Operating
from .pending import Pending
from .preferences import Preferences
from .recipients import Recipients
from .subscriptions import Subscriptions
from .suppressions import Suppressions
from .tenants import Tenants
from .types import Types


class Resources:
    """All calls, by what they concern."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.admin = Admin(transport)
        self.channels = Channels(transport)
        self.events = Events(transport)
        self.feeds = Feeds(transport)
        self.hooks = Hooks(transport)
        self.inbox = Inbox(transport)
        self.me = Me(transport)
        self.messages = Messages(transport)
        self.objects = Objects(transport)
        self.operating = Operating(transport)
        self.pending = Pending(transport)
        self.preferences = Preferences(transport)
        self.recipients = Recipients(transport)
        self.subscriptions = Subscriptions(transport)
        self.suppressions = Suppressions(transport)
        self.tenants = Tenants(transport)
        self.types = Types(transport)
