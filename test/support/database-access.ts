import pg from 'pg'
import type { Place } from './engines.ts'

/** Makes a PostgreSQL database refuse all connections, as an outage would. */
export async function closeDatabase(place: Place): Promise<void> {
  await administer(place, async (client, name) => {
    await client.query(`alter database ${name} allow_connections false`)
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    )
  })
}

/**
 * Terminates every connection to the database, which accepts new ones at once, as a restart would.
 */
export async function dropConnections(place: Place): Promise<void> {
  await administer(place, async (client, name) => {
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    )
  })
}

/** Creates a copy of a database. Terminates every connection to it. */
export async function copyDatabase(place: Place): Promise<Place> {
  const databaseUrl = `${place.databaseUrl}_copy`
  await administer(place, async (client, name) => {
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    )
    await client.query(`create database ${name}_copy template ${name}`)
  })
  return {
    ...place,
    databaseUrl,
    env: { ...place.env, TERSE_DATABASE_URL: databaseUrl },
    remove: () =>
      administer(place, async (client, name) => {
        await client.query(`drop database ${name}_copy with (force)`)
      }),
  }
}

/** Makes a PostgreSQL database reject or accept writes. Terminates every connection to it. */
export async function setReadOnly(place: Place, isReadOnly: boolean): Promise<void> {
  await administer(place, async (client, name) => {
    await client.query(`alter database ${name} set default_transaction_read_only = ${isReadOnly}`)
  })
  await dropConnections(place)
}

/** Undoes `closeDatabase`. */
export async function reopenDatabase(place: Place): Promise<void> {
  await administer(place, async (client, name) => {
    await client.query(`alter database ${name} allow_connections true`)
  })
}

async function administer(
  place: Place,
  work: (client: pg.Client, name: string) => Promise<void>,
): Promise<void> {
  if (place.databaseUrl === undefined) throw new Error('SQLite has no server to take away')
  const url = new URL(place.databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const client = new pg.Client(url.href)
  await client.connect()
  try {
    await work(client, name)
  } finally {
    await client.end()
  }
}
