from types_of_data import EventData, OrderPaidData, ThreadData

paid: OrderPaidData = {
    "order": "1",
    "total": {"amount": 9.5, "currency": "EUR"},
    "items": [{"name": "cup"}],
    "status": "part-paid",
    "gift-wrapped": True,
    "type": "order",
    "reference": 7,
}
thread: ThreadData = {"text": "a", "replies": [{"text": "b"}]}
data: EventData = {"order_paid": paid, "thread": thread, "measured": {"width": 2}, "9-lives": {"any": "thing"}}
wrong: OrderPaidData = {"order": "1", "items": [], "status": "paid"}  # type: ignore[typeddict-item]
word: OrderPaidData = {**paid, "status": "open"}  # type: ignore[typeddict-item]
