"""A shop. Each step is a transaction of its own tables, and whoever has to know of it is told by a row in the outbox of
that very transaction: what is committed is told, what is rolled back is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

Database = Connection[TupleRow]


class Customer(TypedDict):
    """Who buys."""

    id: str
    name: str
    email: str


class Refused(Exception):
    """The order is not in a state for this, or the payment is not enough."""


def migrate(db: Database) -> None:
    """Makes the tables that are not there yet. `outbox.sql` is what `tidings outbox sql` prints."""
    here = Path(__file__).resolve().parent
    for name in ("tables.sql", "outbox.sql"):
        db.execute((here / name).read_bytes())
    db.commit()


def order(db: Database, customer: Customer, article: str, cents: int) -> int:
    """Takes an order and returns its number."""
    with db.transaction():
        sql = "INSERT INTO orders (customer, article, cents) VALUES (%s, %s, %s) RETURNING id"
        row = db.execute(sql, (customer["id"], article, cents)).fetchone()
        assert row is not None
        # The customer is made, or brought up to date, together with the event.
        publish(db, "order_placed", row[0], article, customer)
    number: int = row[0]
    return number


def pay(db: Database, number: int, cents: int) -> None:
    """Takes the payment of an order. One that is not enough is rolled back, and so is the row that told of it."""
    with db.transaction():
        sql = "UPDATE orders SET paid_at = now() WHERE id = %s AND paid_at IS NULL RETURNING customer, article, cents"
        customer, article, price = change(db, number, sql)
        db.execute('INSERT INTO payments ("order", cents) VALUES (%s, %s)', (number, cents))
        publish(db, "order_paid", number, article, customer, {"cents": cents})
        if cents < price:
            raise Refused(f"order {number} costs {price} cents, not {cents}")


def ship(db: Database, number: int, parcel: str) -> None:
    """Ships an order that is paid."""
    with db.transaction():
        sql = """UPDATE orders SET shipped_at = now() WHERE id = %s AND paid_at IS NOT NULL AND shipped_at IS NULL
                 RETURNING customer, article, cents"""
        customer, article, _ = change(db, number, sql)
        db.execute('INSERT INTO parcels (number, "order") VALUES (%s, %s)', (parcel, number))
        publish(db, "order_shipped", number, article, customer, {"parcel": parcel})


def publish(
    db: Database,
    type: str,
    number: int,
    article: str,
    customer: str | Customer,
    data: dict[str, Any] | None = None,
) -> None:
    """Publishes an event with the transaction, or not at all. The events of one order are told in its order.

    The payload is the body of `POST /v1/events`. Without an `id` the event gets that of its row, `shop:1`.
    """
    about = f"order/{number}"
    url = f"https://shop.example.org/orders/{number}"
    event = {
        "type": type,
        "object": {"id": about, "title": article, "url": url},
        "to": {"recipients": [customer]},
    }
    if data is not None:
        event["data"] = data
    db.execute("INSERT INTO tidings_outbox (key, payload) VALUES (%s, %s)", (about, Jsonb(event)))


def change(db: Database, number: int, sql: Any) -> TupleRow:
    """Changes an order that is in a state for it."""
    row = db.execute(sql, (number,)).fetchone()
    if row is None:
        raise Refused(f"order {number} is not in a state for this")
    return row
