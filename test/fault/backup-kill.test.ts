import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { inspectDatabase } from '../../src/app/database/inspect.ts'
import { startNode } from '../../src/app/node/node.ts'
import { totalBacklogBytes } from '../../src/clicks/journal/journal-reader.ts'
import { apiClient, expectStatus, untilServed } from '../support/api.ts'
import { backUp, restoreInto } from '../support/backups.ts'
import { copyDatabase } from '../support/copy-database.ts'
import { createFolder, ENGINES, type Engine, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { formSetting } from '../support/long-form.ts'
import { makeInstance, makeToken } from '../support/make-instance.ts'
import { NO_ACME } from '../support/no-acme.ts'
import { NO_DNS } from '../support/no-dns.ts'
import { random } from '../support/random.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { sendVisitors, type Visitors } from './visitors.ts'

const PROGRAM = fileURLToPath(new URL('./backup-once.ts', import.meta.url))
/** Number of rounds, divided among the engines. */
const ROUNDS = formSetting('BACKUP_ROUNDS') / ENGINES.length
const EDIT_PAUSE_MS = 15
/** For so long a service is under load at most before a backup that is not killed. */
const LOAD_BEFORE_MS_MAX = 300
/** The longest wait before a process is killed: some are killed while they load, some after they end. */
const KILL_AFTER_MS_MAX = 1_500
const DAY_MS = 86_400_000

type Known = { readonly links: readonly string[]; readonly answered: number }

/** A service under load, and the backups of it. */
class LoadedService {
  readonly #place: Place
  readonly #service: ServiceProcess
  /** The visits of all rounds. */
  readonly #visits = { started: 0, answered: 0 }
  readonly #editing: Promise<void>
  readonly #stopping = new AbortController()
  readonly #links: { id: string; key: string }[] = []
  readonly #folder: string
  readonly #random: () => number
  workspaceId = ''

  private constructor(place: Place, service: ServiceProcess, token: string, folder: string) {
    this.#place = place
    this.#service = service
    this.#folder = folder
    this.#random = random
    const api = apiClient(`http://127.0.0.1:${service.port}`, token)
    this.#editing = this.#editUntilStopped(api)
  }

  static async start(place: Place, folder: string): Promise<LoadedService> {
    const token = await makeToken(place.env)
    const loaded = new LoadedService(place, await startProcess(place), token, folder)
    // Before, every visit would be to the dashboard, which counts no click.
    await eventually(async () => assert.ok(loaded.#links.length > 0))
    return loaded
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#editing
    await this.#service.stop()
  }

  /** Makes a backup and restores it; either may be killed before it succeeds. */
  async round(number: number, engine: Engine, t: TestContext): Promise<void> {
    const target = path.join(this.#folder, 'target')
    const dataDir = path.join(this.#folder, `restored-${number}`)
    const { databaseUrl } = this.#place
    const toBackUp = { dataDir: this.#place.dataDir, databaseUrl, target }
    const isKilled = number % 2 === 1
    const visitors = this.#sendVisitors()
    if (isKilled) t.diagnostic(`backup: ${await this.#killAtRandom(toBackUp)}`)
    else await sleep(this.#random() * LOAD_BEFORE_MS_MAX)
    const known = this.#known(visitors)
    await backUp({ ...toBackUp, verifies: number % 3 === 0 })
    await visitors.stop()
    this.#visits.started += visitors.tally.started
    this.#visits.answered += visitors.tally.answered
    const place = await engine.createPlace()
    try {
      if (databaseUrl !== undefined && place.databaseUrl !== undefined) {
        await makeInstance(place.env)
        await copyDatabase(databaseUrl, place.databaseUrl)
      }
      const toRestore = { source: target, dataDir, databaseUrl: place.databaseUrl }
      const settings = { ...place.env, TERSE_DATA_DIR: dataDir }
      if (isKilled) {
        t.diagnostic(`restore: ${await this.#killAtRandom(toRestore)}`)
        await assertRefusedOrWhole(settings)
      }
      const pending = await restoreUnlessWhole(toRestore)
      await this.#assertRestored(settings, known, pending, t)
    } finally {
      await place.remove()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }

  #sendVisitors(): Visitors {
    const pick = () => `/${this.#links[Math.floor(random() * this.#links.length)]?.key ?? ''}`
    return sendVisitors(this.#service.port, pick, { persistent: true })
  }

  #known({ tally }: Visitors): Known {
    return {
      links: this.#links.map(({ id }) => id),
      answered: this.#visits.answered + tally.answered,
    }
  }

  /** Runs a process and kills it at a random moment, unless it has ended. */
  async #killAtRandom(request: object): Promise<string> {
    const env = { ...INHERITED_ENV, REQUEST: JSON.stringify(request) }
    const child = spawn(process.execPath, [PROGRAM], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const exited = once(child, 'exit')
    const afterMs = Math.round(this.#random() * KILL_AFTER_MS_MAX)
    const killing = setTimeout(() => child.kill('SIGKILL'), afterMs)
    const [code, signal] = await exited
    clearTimeout(killing)
    if (signal === null) assert.equal(code, 0)
    return signal === null ? 'complete' : `killed after ${afterMs} ms`
  }

  async #editUntilStopped(api: ReturnType<typeof apiClient>): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const link = { domain: 'localhost', url: 'https://example.com/' }
      const once = { 'idempotency-key': randomUUID() }
      const { body } = expectStatus(await untilServed(() => api.post('/links', link, once)), 201)
      this.workspaceId = body.workspace_id
      this.#links.push({ id: body.id, key: body.key })
      const url = `https://example.com/${this.#links.length}`
      const patched = await untilServed(() => api.patch(`/links/${body.id}`, { url }))
      expectStatus(patched, 200)
      await sleep(EDIT_PAUSE_MS)
    }
  }

  /** Serves the restored folder, and compares what it has. */
  async #assertRestored(
    env: Readonly<Record<string, string>>,
    known: Known,
    pending: number | undefined,
    t: TestContext,
  ): Promise<void> {
    const port = await freePort()
    const config = readConfig({
      TERSE_PORT: String(port),
      TERSE_HOST: '127.0.0.1',
      TERSE_BASE_URL: `http://localhost:${port}`,
      TERSE_DNS_SERVERS: NO_DNS,
      TERSE_ACME_DIRECTORY: NO_ACME,
      TERSE_RAW_CLICKS_PER_MINUTE: '0',
      ...env,
    })
    const log = pino({ level: 'silent' })
    const instance = await openInstance(config, log, { mustExist: true })
    try {
      const node = await startNode(config, instance, log)
      // It counts the restored journals. A stop may leave a part of them to the next start.
      try {
        await eventually(async () => {
          const { positions = new Map() } = (await inspectDatabase(config)) ?? {}
          assert.equal(totalBacklogBytes(config.dataDir, positions), 0)
        })
      } finally {
        await node.stop()
      }
      const { store } = instance
      const { workspaceId } = this
      const today = Math.floor(Date.now() / DAY_MS)
      const ids = new Set<string>()
      let clicks = 0
      const query = { workspaceId, sort: { field: 'created_at', descending: true } } as const
      for (let offset = 0; ; offset += 100) {
        const { items } = await store.read.links.page({ ...query, offset, limit: 100 })
        if (items.length === 0) break
        for (const { id, seq, clicks: counted } of items) {
          const scope = { kind: 'link', workspaceId, linkSeq: seq } as const
          const days = await store.read.reports.readDays(scope, today - 1, today, { slots: false })
          const persons = days.reduce((sum, { total }) => sum + total.persons, 0)
          assert.equal(counted, persons, 'the counter and the chart of a link')
          ids.add(id)
          clicks += counted
        }
      }
      const raw = await rawClicksOf(store, { kind: 'workspace', workspaceId })
      assert.equal(raw.length, clicks, 'the stored clicks and the counted ones')
      for (const id of known.links) assert.ok(ids.has(id), 'a link that was answered is restored')
      assert.ok(clicks >= known.answered, `${clicks} of ${known.answered} answered visits`)
      assert.ok(clicks <= this.#visits.started, 'nothing counts twice')
      if (pending !== undefined) assert.equal(clicks, pending, 'the counts of the manifest')
      t.diagnostic(`${ids.size} links, ${clicks} clicks, ${known.answered} answered before`)
    } finally {
      await instance.close()
    }
  }
}

/** A restore that was killed leaves a folder that is refused, unless it had ended or not begun. */
async function assertRefusedOrWhole(env: Readonly<Record<string, string>>): Promise<void> {
  const log = pino({ level: 'silent' })
  try {
    const instance = await openInstance(readConfig(env), log, { mustExist: true })
    await instance.close()
  } catch (error) {
    assert.match(
      String(error),
      /restore was cut off|There is no instance|There is no database|secret key of the database is missing/,
    )
  }
}

/** Returns the clicks that the restored instance must have; undefined when that is not known. */
async function restoreUnlessWhole(
  request: Parameters<typeof restoreInto>[0],
): Promise<number | undefined> {
  try {
    const { clicks, pendingClicks } = await restoreInto(request)
    return clicks === undefined ? undefined : clicks + pendingClicks
  } catch (error) {
    assert.match(String(error), /empty data folder alone/)
    return undefined
  }
}

describe('backups under load', { concurrency: true }, () => {
  for (const engine of ENGINES) {
    describe(`on ${engine.title}`, () => {
      let place: Place
      let folder: string
      let loaded: LoadedService
      before(async () => {
        place = await engine.createMigratedPlace()
        folder = createFolder()
        loaded = await LoadedService.start(place, folder)
      })
      after(async () => {
        await loaded.stop()
        await place.remove()
        rmSync(folder, { recursive: true, force: true })
      })

      test(`are complete and exact, killed or not, ${ROUNDS} times`, async (t) => {
        for (let number = 0; number < ROUNDS; number += 1) await loaded.round(number, engine, t)
      })
    })
  }
})
