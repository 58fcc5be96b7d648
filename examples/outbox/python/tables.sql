-- The tables of the shop itself.
CREATE TABLE IF NOT EXISTS orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer text NOT NULL,
    article text NOT NULL,
    cents integer NOT NULL CHECK (cents > 0),
    paid_at timestamptz,
    shipped_at timestamptz
);

CREATE TABLE IF NOT EXISTS payments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    "order" bigint NOT NULL REFERENCES orders,
    cents integer NOT NULL CHECK (cents > 0)
);

CREATE TABLE IF NOT EXISTS parcels (
    number text PRIMARY KEY,
    "order" bigint NOT NULL UNIQUE REFERENCES orders
);
