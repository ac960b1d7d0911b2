import pg from 'pg'

/**
 * Copies all tables and sequences of a PostgreSQL database, as of one snapshot, into another one that has the same
 * schema: what `pg_dump` and `pg_restore` do. Debian's are older than the server of the tests.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const [source, target] = [new pg.Client(from), new pg.Client(to)]
  await Promise.all([source.connect(), target.connect()])
  try {
    await source.query('begin isolation level repeatable read')
    await target.query('set session_replication_role = replica')
    await createPartitions(source, target)
    for (const table of await tablesOf(source)) {
      const { rows } = await source.query(
        `select coalesce(json_agg(t), '[]')::text as data from ${table} t`,
      )
      await target.query(`delete from ${table}`)
      await target.query(
        `insert into ${table} overriding system value
           select * from json_populate_recordset(null::${table}, $1::json)`,
        [rows[0].data],
      )
    }
    await copySequences(source, target)
  } finally {
    await Promise.all([source.end(), target.end()])
  }
}

async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(
    `select oid::regclass::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  return rows.map(({ name }) => name)
}

async function createPartitions(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query(
    `select c.oid::regclass::text as name, i.inhparent::regclass::text as parent,
       pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_class c join pg_inherits i on i.inhrelid = c.oid where c.relispartition and c.relkind = 'r'`,
  )
  for (const { name, parent, bound } of rows) {
    await target.query(`create table if not exists ${name} partition of ${parent} ${bound}`)
  }
}

async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query(
    `select quote_ident(sequencename) as name, last_value from pg_sequences where last_value is not null`,
  )
  for (const { name, last_value } of rows) {
    await target.query('select setval($1::regclass, $2)', [name, last_value])
  }
}
