"""Follow a topic, publish to it, and look at the inbox, with a generated client.

Make the client and run this against a server that has `examples/first/tidings.toml`:

    pip install openapi-python-client
    openapi-python-client generate --path docs/openapi.json --meta none --output-path tidings_client
    TIDINGS_URL=http://127.0.0.1:8990 TIDINGS_KEY=$KEY PYTHONPATH=. python examples/clients/quickstart.py
"""

import os

from tidings_client import AuthenticatedClient
from tidings_client.api.events import get_event, publish
from tidings_client.api.inbox import inbox
from tidings_client.api.recipients import put_recipient
from tidings_client.api.subscriptions import follow
from tidings_client.models import Audience, Event, EventObject, RecipientChange, RecipientState

client = AuthenticatedClient(base_url=os.environ["TIDINGS_URL"], token=os.environ["TIDINGS_KEY"])
work = EventObject(id="works/1", title="Water Lilies")
comment = Event(type_="comment", actor="ben", object_=work, to=Audience(topics=["artist/42"]))

put_recipient.sync("ana", client=client, body=RecipientChange(email="ana@example.org", state=RecipientState.ACTIVE))
follow.sync("ana", "artist/42", client=client)
published = publish.sync(client=client, body=comment)
page = inbox.sync("ana", client=client, limit=10)
state = get_event.sync(published.id, client=client)

print("published:", published.status.value, "to", published.notifications)
print("inbox:", page.groups[0].items[0].object_.title, "unseen", page.unseen)
print("state:", {name: channel.pending for name, channel in state.channels.additional_properties.items()})
