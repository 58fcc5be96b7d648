"""A day in the shop: two orders, a payment that is not enough, and a parcel."""

import os
import sys

import psycopg
from shop import Customer, Refused, migrate, order, pay, ship

url = os.environ.get("SHOP_DATABASE")
if not url:
    sys.exit("set SHOP_DATABASE, such as postgres://localhost/shop")

# Without autocommit the first SELECT would open a transaction around all that follows.
with psycopg.connect(url, autocommit=True) as db:
    migrate(db)
    ana = Customer(id="ana", name="Ana Ruiz", email="ana@example.org")
    lamp = order(db, ana, "A lamp", 4_900)
    chair = order(db, ana, "A chair", 12_900)
    print(f"orders {lamp} and {chair} are placed")

    try:
        pay(db, chair, 900)
    except Refused as fault:
        print(f"not paid: {fault}")
    pay(db, lamp, 4_900)
    ship(db, lamp, f"parcel-{lamp}")
    print(f"order {lamp} is paid and shipped")

    for row, kind in db.execute("SELECT id, payload->>'type' FROM tidings_outbox ORDER BY id"):
        print(f"outbox {row}: {kind}")
