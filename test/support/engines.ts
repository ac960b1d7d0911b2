import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { type ClickHouseAccess, parseClicksUrl } from '../../src/storage/clickhouse/clicks-url.ts'
import './built-program.ts'

/** Where one test keeps its data, on one of the engines. */
export type Place = {
  readonly dataDir: string
  /** Undefined on SQLite. */
  readonly databaseUrl: string | undefined
  /** Where clicks are; left out where they are in the database. */
  readonly clicks?: ClickHouseAccess | undefined
  /** The settings that make the service use this place. */
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

export type Engine = {
  /** The engine of the main database. */
  readonly name: 'SQLite' | 'PostgreSQL'
  /** The engine or engines, for titles. */
  readonly title: string
  createPlace(): Promise<Place>
  /**
   * Creates a place whose database has the schema already, as after an earlier start: for tests of what comes
   * later. Migrating costs half a second of processor time on PostgreSQL.
   */
  createMigratedPlace(): Promise<Place>
}

/** Set by the global set-up. */
export const MIGRATED = {
  /** A folder with the files of SQLite. */
  folder: 'TEST_MIGRATED_FOLDER',
  /** A database of the shared PostgreSQL server. */
  database: 'terse_migrated',
} as const

export const CLICKHOUSE_USER = 'terse'
/** Set by the global set-up of `npm run test:clickhouse`: the shared server of ClickHouse. */
export const CLICKHOUSE = {
  url: 'TEST_CLICKHOUSE_URL',
  password: 'TEST_CLICKHOUSE_PASSWORD',
} as const

/** Set by the global set-up: the folder of `makeTestFolder`. */
export const TEST_FOLDER = 'TEST_FOLDER'
const PARENT = process.env[TEST_FOLDER] ?? tmpdir()

/**
 * For tests that do not depend on the engine, where starting processes twice would only take time.
 */
export const SQLITE: Engine = {
  name: 'SQLite',
  title: 'SQLite',
  createPlace: async () => sqlitePlace(),
  async createMigratedPlace() {
    const place = sqlitePlace()
    const migrated = process.env[MIGRATED.folder]
    if (migrated !== undefined) cpSync(migrated, place.dataDir, { recursive: true })
    return place
  },
}

function sqlitePlace(): Place {
  const dataDir = createFolder()
  return {
    dataDir,
    databaseUrl: undefined,
    env: { TERSE_DATA_DIR: dataDir },
    remove: async () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 }),
  }
}

/**
 * Other tests may keep the server and the machine busy. Tests of an unreachable database set less.
 */
export const PATIENCE_MS = 15_000

const POSTGRESQL: Engine = {
  name: 'PostgreSQL',
  title: 'PostgreSQL',
  createPlace: () => postgresPlace(''),
  // Without the log, a copy costs half as much.
  createMigratedPlace: () => postgresPlace(`template ${MIGRATED.database} strategy file_copy`),
}

/** The engines that every test of the product runs on; in `npm run test:clickhouse`, those with clicks in ClickHouse. */
export const ENGINES: readonly Engine[] =
  process.env[CLICKHOUSE.url] === undefined
    ? [SQLITE, POSTGRESQL]
    : [withClickHouse(SQLITE), withClickHouse(POSTGRESQL)]

function withClickHouse(engine: Engine): Engine {
  return {
    name: engine.name,
    title: `${engine.name} with ClickHouse`,
    createPlace: async () => addClickHouse(await engine.createPlace()),
    createMigratedPlace: async () => addClickHouse(await engine.createMigratedPlace()),
  }
}

/** Adds a database of the shared server of ClickHouse, which the service migrates. */
async function addClickHouse(place: Place): Promise<Place> {
  const { [CLICKHOUSE.url]: url = '', [CLICKHOUSE.password]: password = '' } = process.env
  const database = `test_${randomBytes(8).toString('hex')}`
  const execute = async (statement: string) => {
    const headers = { 'X-ClickHouse-User': CLICKHOUSE_USER, 'X-ClickHouse-Key': password }
    const response = await fetch(url, { method: 'POST', body: statement, headers })
    if (!response.ok) throw new Error(await response.text())
    await response.text()
  }
  await execute(`create database ${database}`)
  const clicksUrl = `clickhouse://${CLICKHOUSE_USER}@${new URL(url).host}/${database}`
  return {
    ...place,
    clicks: clicksAt(clicksUrl, password),
    env: {
      ...place.env,
      TERSE_CLICKS_URL: clicksUrl,
      TERSE_CLICKS_PASSWORD: password,
    },
    async remove() {
      await execute(`drop database ${database} sync`)
      await place.remove()
    },
  }
}

/** How to reach the database of clicks at the value of `TERSE_CLICKS_URL`. */
export function clicksAt(url: string, password: string): ClickHouseAccess {
  const parsed = parseClicksUrl(url)
  if ('fault' in parsed) throw new Error(parsed.fault)
  return { address: parsed.value, password }
}

async function postgresPlace(origin: string): Promise<Place> {
  const dataDir = createFolder()
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(`create database ${name} ${origin}`)
  const databaseUrl = `${serverUrl()}/${name}`
  return {
    dataDir,
    databaseUrl,
    env: {
      TERSE_DATA_DIR: dataDir,
      TERSE_DATABASE_URL: databaseUrl,
      TERSE_DATABASE_TIMEOUT_SECONDS: String(PATIENCE_MS / 1_000),
    },
    async remove() {
      await administer(`drop database ${name} with (force)`)
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

export function createFolder(): string {
  return mkdtempSync(path.join(PARENT, 'terse-test-'))
}

/** The URL of the PostgreSQL server that the whole run shares. */
export function serverUrl(): string {
  const url = process.env.TEST_POSTGRES_URL
  if (url === undefined) throw new Error('run the tests with npm test, which starts PostgreSQL')
  return url
}

export async function administer(statement: string): Promise<void> {
  const client = new pg.Client(`${serverUrl()}/postgres`)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
