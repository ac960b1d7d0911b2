import { rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteFile } from '../../src/storage/sqlite/data-files.ts'
import { createToken } from '../support/create-token.ts'
import { createDataFolder } from '../support/data-folder.ts'
import { runLoad } from '../support/load.ts'
import { usageOf } from '../support/process-usage.ts'
import { profilingOptions } from '../support/profiling.ts'
import type { Scenario } from '../support/scenario.ts'
import { startTerse } from '../support/server-process.ts'
import { median, quantile, round } from '../support/statistics.ts'

const CONNECTIONS = 16
const PER_ROUND = 20_000
const ALONE_PER_ROUND = 500
const WARM_UP = 20_000
const PER_SECOND_MIN = 5_000
const BEYOND_INSERT_MAX_MS = 3

type Round = {
  readonly perSecond: number
  readonly cpuMicros: number
  readonly latenciesMs: readonly number[]
}

export const creates: Scenario = {
  name: 'creates',
  description: 'links created through the API on SQLite, concurrently and one by one',
  async run({ rounds }) {
    const dataDir = createDataFolder()
    const env = { TERSE_DATA_DIR: dataDir }
    const request = createRequest(await createToken(env))
    const terse = await startTerse(env, profilingOptions())
    let created = 0

    async function create(connections: number, count: number): Promise<Round> {
      const before = usageOf(terse.pid)
      const { port } = terse
      const load = { port, connections, count, status: 201, request: () => request }
      const { seconds, latenciesMs } = await runLoad(load)
      created += count
      const cpuMicros = (usageOf(terse.pid).cpuMicros - before.cpuMicros) / count
      return { perSecond: count / seconds, cpuMicros, latenciesMs }
    }

    await create(CONNECTIONS, WARM_UP)
    const together: Round[] = []
    const alone: Round[] = []
    const insertsMs: number[] = []
    const plain = openPlain(path.join(dataDir, 'plain.db'))
    for (let number = 1; number <= rounds; number += 1) {
      together.push(await create(CONNECTIONS, PER_ROUND))
      alone.push(await create(1, ALONE_PER_ROUND))
      insertsMs.push(...plain.insert(ALONE_PER_ROUND))
    }
    plain.close()

    // An acknowledged link must exist although the process had no time to write anything more.
    process.kill(terse.pid, 'SIGKILL')
    await terse.stop()
    const kept = countLinks(dataDir)
    if (kept !== created) throw new Error(`${created} creates were answered, ${kept} exist`)
    rmSync(dataDir, { recursive: true })

    const aloneMs = alone.flatMap(({ latenciesMs }) => latenciesMs)
    return {
      rows: [
        summarize(`${CONNECTIONS} connections`, together),
        summarize('1 connection', alone),
        { what: 'plain insert and sync', ...latencies(insertsMs) },
      ],
      targets: [
        {
          what: 'creates a second',
          value: median(together.map(({ perSecond }) => perSecond)),
          atLeast: PER_SECOND_MIN,
        },
        {
          what: 'median of a single create minus an insert, ms',
          value: median(aloneMs) - median(insertsMs),
          atMost: BEYOND_INSERT_MAX_MS,
        },
      ],
      missing: [],
    }
  },
}

function createRequest(token: string): string {
  const body = JSON.stringify({ domain: 'localhost', url: 'https://example.com/summer' })
  return [
    'POST /api/v1/links HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Accept: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

/** Opens a database on the same disk, with one row per transaction, each synced. */
function openPlain(file: string) {
  const database = new DatabaseSync(file)
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    create table links (seq integer primary key, key text not null unique, url text not null);
  `)
  const statement = database.prepare('insert into links (key, url) values (?, ?)')
  return {
    /** @returns how long each insert took, in milliseconds */
    insert(count: number): number[] {
      return Array.from({ length: count }, () => {
        const startedMs = performance.now()
        statement.run(crypto.randomUUID(), 'https://example.com/summer')
        return performance.now() - startedMs
      })
    },
    close: () => database.close(),
  }
}

function countLinks(dataDir: string): number {
  const database = new DatabaseSync(sqliteFile(dataDir))
  const row = database.prepare('select count(*) as count from links').get()
  database.close()
  return Number(row?.count)
}

function summarize(what: string, rounds: readonly Round[]) {
  return {
    what,
    'CPU µs': round(median(rounds.map(({ cpuMicros }) => cpuMicros))),
    'creates/s': Math.round(median(rounds.map(({ perSecond }) => perSecond))),
    ...latencies(rounds.flatMap(({ latenciesMs }) => latenciesMs)),
  }
}

function latencies(latenciesMs: readonly number[]) {
  return {
    'p50 ms': round(median(latenciesMs), 2),
    'p99 ms': round(quantile(latenciesMs, 0.99), 2),
  }
}
