"""Make a recipient, publish an event, look at the inbox."""

from tidings import Tidings

client = Tidings()  # TIDINGS_URL and TIDINGS_KEY, or Tidings("http://127.0.0.1:8990", key)
client.recipients.upsert("ana", email="ana@example.org", name="Ana Ruiz")
client.events.publish(type="comment", object={"id": "note-7"}, to={"recipients": ["ana"]})
print("unread:", client.inbox.page("ana").unread)

client.close()
