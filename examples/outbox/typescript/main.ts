// A day in the shop: two orders, a payment that is not enough, and a parcel.
import { Pool } from "pg";
import { migrate, order, pay, ship } from "./shop.js";

const url = process.env.SHOP_DATABASE;
if (!url) throw new Error("set SHOP_DATABASE, such as postgres://localhost/shop");
const pool = new Pool({ connectionString: url });
await migrate(pool);

const ana = { id: "ana", name: "Ana Ruiz", email: "ana@example.org" };
const lamp = await order(pool, ana, "A lamp", 4_900);
const chair = await order(pool, ana, "A chair", 12_900);
console.log(`orders ${lamp} and ${chair} are placed`);

await pay(pool, chair, 900).catch((fault: Error) => console.log(`not paid: ${fault.message}`));
await pay(pool, lamp, 4_900);
await ship(pool, lamp, `parcel-${lamp}`);
console.log(`order ${lamp} is paid and shipped`);

const { rows } = await pool.query<{ id: string; type: string }>("SELECT id, payload->>'type' AS type FROM tidings_outbox ORDER BY id");
for (const { id, type } of rows) console.log(`outbox ${id}: ${type}`);
await pool.end();
