import { existsSync } from 'node:fs'
import path from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { certificateStanding } from '../../certificates/certificates.ts'
import { acmeAccountStore, acmeBudgetStore } from '../../certificates/store/acme-store.ts'
import { certificateOrderStore } from '../../certificates/store/certificate-order-store.ts'
import { certificateStore } from '../../certificates/store/certificate-store.ts'
import type { CertificateStanding } from '../../domains/domain.ts'
import type { InspectedClaim } from '../../operations/doctor/host-findings.ts'
import type { Inspection } from '../../operations/doctor/instance-findings.ts'
import { nodeStore } from '../../operations/nodes.ts'
import { openPool, START_TIMEOUT_MS } from '../../storage/postgres/pool.ts'
import type { Schema } from '../../storage/schema.ts'
import {
  hasLog,
  kyselyOver,
  openToRead,
  SqliteConnection,
} from '../../storage/sqlite/connection.ts'
import { attachForReading, countedFile, sqliteFile } from '../../storage/sqlite/data-files.ts'
import { currentVersion, SCHEMA_VERSION } from './migrations/migrate.ts'

const LOCK_TIMEOUT_MS = 2_500

type Location = { readonly databaseUrl: string | undefined; readonly dataDir: string }
type Opened = {
  readonly db: Kysely<Schema>
  readonly engine: string
  readonly serverMillis: number | undefined
}

/**
 * Inspects the configured database. Returns undefined when there is no SQLite file yet.
 *
 * @throws when the database cannot be reached, or is newer than the program
 */
export function inspectDatabase(location: Location): Promise<Inspection | undefined> {
  return withDatabase(location, inspect)
}

/**
 * Returns the claims on a host, the active one first, or undefined when there is no database yet.
 */
export function inspectClaims(
  location: Location,
  host: string,
): Promise<readonly InspectedClaim[] | undefined> {
  return withDatabase(location, async ({ db }) => {
    if ((await currentVersion(db)) === 0) return []
    return db
      .selectFrom('domains')
      .innerJoin('workspaces', 'workspaces.id', 'domains.workspace_id')
      .select([
        'domains.workspace_id as workspaceId',
        'workspaces.name as workspace',
        'domains.status',
      ])
      .where('domains.host', '=', host)
      .orderBy('domains.status')
      .orderBy('domains.id')
      .execute()
  })
}

/**
 * Returns the state of a host's certificate, or undefined when there is no database yet or its
 * schema is older than this program's.
 */
export function inspectCertificate(
  location: Location,
  host: string,
  directory: string,
  now: number,
): Promise<CertificateStanding | undefined> {
  return withDatabase(location, async ({ db }) => {
    if ((await currentVersion(db)) < SCHEMA_VERSION) return undefined
    const stores = {
      certificates: certificateStore(db),
      certificateOrders: certificateOrderStore(db),
      acmeAccounts: acmeAccountStore(db),
      acmeBudgets: acmeBudgetStore(db),
    }
    return certificateStanding(stores, host, directory, now)
  })
}

async function withDatabase<T>(
  location: Location,
  work: (opened: Opened) => Promise<T>,
): Promise<T | undefined> {
  if (location.databaseUrl === undefined) return withSqlite(sqliteFile(location.dataDir), work)
  const pool = openPool({
    url: location.databaseUrl,
    connectionsMax: 1,
    statementTimeoutMs: START_TIMEOUT_MS,
    connectTimeoutMs: START_TIMEOUT_MS,
    onError: () => {},
  })
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    const server = await sql<{ version: string; millis: string }>`
      select current_setting('server_version') as version,
        (extract(epoch from clock_timestamp()) * 1000)::bigint::text as millis`.execute(db)
    const row = server.rows[0]
    const engine = `PostgreSQL ${row?.version}`
    return await work({ db, engine, serverMillis: Number(row?.millis) })
  } finally {
    await db.destroy()
  }
}

async function withSqlite<T>(
  file: string,
  work: (opened: Opened) => Promise<T>,
): Promise<T | undefined> {
  if (!existsSync(file)) return undefined
  const database = openToRead(file, LOCK_TIMEOUT_MS)
  const counted = countedFile(path.dirname(file))
  try {
    if (existsSync(counted)) {
      const immutable = !hasLog(counted)
      attachForReading(database, { file: counted, name: 'counted', immutable })
    }
    const row = database.prepare('select sqlite_version() as version').get()
    const db = kyselyOver(new SqliteConnection(database))
    return await work({ db, engine: `SQLite ${row?.version}`, serverMillis: undefined })
  } finally {
    database.close()
  }
}

async function inspect({ db, engine, serverMillis }: Opened): Promise<Inspection> {
  const schemaVersion = await currentVersion(db)
  if (schemaVersion === 0) {
    const none = {
      workspaces: 0,
      links: 0,
      positions: new Map(),
      nodes: [],
      groupBindings: new Map(),
    }
    return { engine, schemaVersion, serverMillis, ...none, lastChangeMicros: undefined }
  }
  const workspaces = await db
    .selectFrom('workspaces')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const links = await db
    .selectFrom('link_buckets')
    .select(sql<number>`cast(coalesce(sum(links), 0) as bigint)`.as('count'))
    .executeTakeFirstOrThrow()
  const positions = await db
    .selectFrom('journal_positions')
    .select(['journal_id', 'segment', 'position as offset'])
    .execute()
  const change = await db
    .selectFrom('changes')
    .select((eb) => eb.fn.max('at').as('at'))
    .executeTakeFirst()
  const isCurrent = schemaVersion >= SCHEMA_VERSION
  return {
    engine,
    schemaVersion,
    serverMillis,
    workspaces: workspaces.count,
    links: links.count,
    positions: new Map(
      positions.map(({ journal_id, segment, offset }) => [journal_id, { segment, offset }]),
    ),
    lastChangeMicros: change?.at ?? undefined,
    // An older schema may lack the tables or some of their columns.
    nodes: isCurrent ? await nodeStore(db).list() : [],
    groupBindings: isCurrent ? await inspectGroupBindings(db) : new Map(),
  }
}

async function inspectGroupBindings(db: Kysely<Schema>): Promise<Inspection['groupBindings']> {
  const rows = await db
    .selectFrom('group_bindings')
    .leftJoin('workspaces', 'workspaces.id', 'group_bindings.workspace_id')
    .select(['group_bindings.name', 'workspaces.id', 'workspaces.name as current'])
    .execute()
  return new Map(
    rows.map(({ name, id, current }) => [
      name,
      id === null || current === null ? null : { id, name: current },
    ]),
  )
}
