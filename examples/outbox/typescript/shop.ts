// A shop. Each step is a transaction of its own tables, and whoever has to know of it is told by a row in the outbox of
// that very transaction: what is committed is told, what is rolled back is not.
import { readFile } from "node:fs/promises";
import type { ClientBase, Pool } from "pg";

/** Who buys. */
export interface Customer {
  id: string;
  name: string;
  email: string;
}

/** Makes the tables that are not there yet. */
export async function migrate(pool: Pool): Promise<void> {
  for (const file of ["tables.sql", "outbox.sql"]) await pool.query(await readFile(new URL(file, import.meta.url), "utf8"));
}

/** Takes an order and returns its number. */
export async function order(pool: Pool, customer: Customer, article: string, cents: number): Promise<number> {
  return transaction(pool, async (db) => {
    const sql = "INSERT INTO orders (customer, article, cents) VALUES ($1, $2, $3) RETURNING id";
    const { rows } = await db.query<{ id: string }>(sql, [customer.id, article, cents]);
    const id = Number(rows[0]!.id);
    // The customer is made, or brought up to date, together with the event.
    await publish(db, { type: "order_placed", object: about(id, article), to: { recipients: [customer] } });
    return id;
  });
}

/** Takes the payment of an order. One that is not enough is rolled back, and so is the row that told of it. */
export async function pay(pool: Pool, id: number, cents: number): Promise<void> {
  await transaction(pool, async (db) => {
    const paid = await change(db, id, "UPDATE orders SET paid_at = now() WHERE id = $1 AND paid_at IS NULL RETURNING *");
    await db.query('INSERT INTO payments ("order", cents) VALUES ($1, $2)', [id, cents]);
    await publish(db, { type: "order_paid", object: about(id, paid.article), data: { cents }, to: { recipients: [paid.customer] } });
    if (cents < paid.cents) throw new Error(`order ${id} costs ${paid.cents} cents, not ${cents}`);
  });
}

/** Ships an order that is paid. */
export async function ship(pool: Pool, id: number, parcel: string): Promise<void> {
  await transaction(pool, async (db) => {
    const shipped = await change(db, id, "UPDATE orders SET shipped_at = now() WHERE id = $1 AND paid_at IS NOT NULL AND shipped_at IS NULL RETURNING *");
    await db.query('INSERT INTO parcels (number, "order") VALUES ($1, $2)', [parcel, id]);
    await publish(db, { type: "order_shipped", object: about(id, shipped.article), data: { parcel }, to: { recipients: [shipped.customer] } });
  });
}

/** An event as `POST /v1/events` takes it. Without an `id` it gets that of its row, `shop:1`. */
interface Event {
  type: "order_placed" | "order_paid" | "order_shipped";
  object: { id: string; title: string; url: string };
  data?: Record<string, unknown>;
  to: { recipients: (string | Customer)[] };
}

/** Publishes an event with the transaction, or not at all. The events of one order are told in its order. */
async function publish(db: ClientBase, event: Event): Promise<void> {
  await db.query("INSERT INTO tidings_outbox (key, payload) VALUES ($1, $2)", [event.object.id, event]);
}

const about = (id: number, article: string) => ({ id: `order/${id}`, title: article, url: `https://shop.example.org/orders/${id}` });

interface Order {
  customer: string;
  article: string;
  cents: number;
}

/** Changes an order that is in a state for it. */
async function change(db: ClientBase, id: number, sql: string): Promise<Order> {
  const { rows } = await db.query<Order>(sql, [id]);
  if (!rows[0]) throw new Error(`order ${id} is not in a state for this`);
  return rows[0];
}

async function transaction<T>(pool: Pool, work: (db: ClientBase) => Promise<T>): Promise<T> {
  const db = await pool.connect();
  try {
    await db.query("BEGIN");
    const done = await work(db);
    await db.query("COMMIT");
    return done;
  } catch (fault) {
    await db.query("ROLLBACK");
    throw fault;
  } finally {
    db.release();
  }
}
