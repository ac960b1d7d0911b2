import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/**
 * The tables that an import reads, as Kutt's migrations make them in PostgreSQL. Texts may be longer: SQLite
 * ignores the lengths that Kutt declares.
 */
const TABLES = `
  create table domains (
    id serial primary key, banned boolean not null default false, banned_by_id integer,
    address varchar(255) not null unique, homepage varchar(255), user_id integer,
    uuid uuid not null default gen_random_uuid(), created_at timestamptz not null default current_timestamp,
    updated_at timestamptz not null default current_timestamp
  );
  create table links (
    id serial primary key, address text not null, description text,
    banned boolean not null default false, banned_by_id integer, domain_id integer references domains (id),
    password varchar(255), expire_in timestamptz, target text not null, user_id integer,
    visit_count integer not null default 0, uuid uuid not null default gen_random_uuid(),
    created_at timestamptz not null default current_timestamp,
    updated_at timestamptz not null default current_timestamp
  );
  create table visits (
    id serial primary key, countries jsonb, created_at timestamptz not null default current_timestamp,
    updated_at timestamptz default current_timestamp, link_id integer references links (id) on delete cascade,
    user_id integer, referrers jsonb, total integer not null default 0,
    br_chrome integer not null default 0, br_edge integer not null default 0, br_firefox integer not null default 0,
    br_ie integer not null default 0, br_opera integer not null default 0, br_other integer not null default 0,
    br_safari integer not null default 0, os_android integer not null default 0, os_ios integer not null default 0,
    os_linux integer not null default 0, os_macos integer not null default 0, os_other integer not null default 0,
    os_windows integer not null default 0
  );
  create index on visits (link_id);`

const ROWS_PER_INSERT = 100

/** Copies the links, visits and domains of Kutt's SQLite database into an empty PostgreSQL database. */
export async function copyKuttToPostgres(file: string, url: string): Promise<void> {
  const kutt = new DatabaseSync(file, { readOnly: true })
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query("set time zone 'UTC'")
    await client.query(TABLES)
    for (const table of ['domains', 'links', 'visits']) {
      const rows = kutt.prepare(`select * from ${table}`).all()
      for (let at = 0; at < rows.length; at += ROWS_PER_INSERT)
        await insert(client, table, rows.slice(at, at + ROWS_PER_INSERT))
    }
  } finally {
    await client.end()
    kutt.close()
  }
}

async function insert(
  client: pg.Client,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).join(', ')
  // PostgreSQL converts 0 and 1 to booleans, and text to dates in the session's zone.
  await client.query(
    `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(rows)],
  )
}
