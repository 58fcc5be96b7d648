# Written by `tidings types --lang python`: do not change it here.
"""The `data` of events."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union


# `data` of `measured`.
MeasuredData = Dict[str, float]


class _OrderPaidDataItemsItemRequired(TypedDict):
    name: str


class OrderPaidDataItemsItem(_OrderPaidDataItemsItemRequired, total=False):
    count: int


class OrderPaidMoney(TypedDict):
    amount: float
    currency: str


class _OrderPaidDataRequired(TypedDict):
    items: List[OrderPaidDataItemsItem]
    order: str
    """Number of the order"""
    status: Literal["paid", "part-paid"]
    total: OrderPaidMoney


_OrderPaidDataOptional = TypedDict(
    "_OrderPaidDataOptional",
    {
        "gift-wrapped": "bool",
        "more": "Any",
        "note": "Union[str, None]",
        "reference": "Union[int, str]",
        "tags": "Dict[str, str]",
        "tip": "OrderPaidMoney",
        "type": "Literal[\"order\"]",
    },
    total=False,
)


class OrderPaidData(_OrderPaidDataRequired, _OrderPaidDataOptional):
    """`data` of `order_paid`.

    What was paid."""


class _ThreadDataRequired(TypedDict):
    text: str


class ThreadData(_ThreadDataRequired, total=False):
    """`data` of `thread`."""

    parent: ThreadData
    replies: List[ThreadData]


EventData = TypedDict(
    "EventData",
    {
        "9-lives": "Dict[str, Any]",
        "measured": "MeasuredData",
        "order_paid": "OrderPaidData",
        "thread": "ThreadData",
    },
    total=False,
)
"""The `data` of each type of event."""
