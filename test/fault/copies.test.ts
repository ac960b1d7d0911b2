import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { startNode } from '../../src/app/node/node.ts'
import { RefusedFiles } from '../../src/storage/file-fault.ts'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { createFolder, type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { formSetting } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { NO_ACME } from '../support/no-acme.ts'
import { NO_DNS } from '../support/no-dns.ts'
import { random } from '../support/random.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { sendVisitors } from './visitors.ts'

const run = promisify(execFile)
const SLOW_COPY = fileURLToPath(new URL('./slow-copy.ts', import.meta.url))

/** Number of copies; half of them are made by `cp -r`. */
const COPIES = formSetting('COPIES')
/**
 * Enough links for their counters to span several pages, so that a copy can contain pages of two
 * moments.
 */
const LINKS = 200
const EDIT_PAUSE_MS = 20
const CHECKPOINT_PAUSE_MS_MAX = 60
const DAY_MS = 86_400_000

/** The links and clicks of a service started on a copy. */
type Shown = { links: number; clicks: number }

describe('copies of a data folder made while the service runs', () => {
  let place: Place
  let service: ServiceProcess
  let api: Api
  let workspaceId: string
  let folder: string
  const links: { id: string; key: string }[] = []
  before(async () => {
    place = await SQLITE.createPlace()
    folder = createFolder()
    const token = await makeToken(place.env)
    service = await startProcess(place)
    api = apiClient(`http://127.0.0.1:${service.port}`, token)
    for (let count = 0; count < LINKS; count += 1) await addLink()
  })
  after(async () => {
    await service.kill()
    await place.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  async function addLink(): Promise<void> {
    const link = { domain: 'localhost', url: 'https://example.com/' }
    const { body } = expectStatus(await api.post('/links', link), 201)
    workspaceId = body.workspace_id
    links.push({ id: body.id, key: body.key })
  }

  async function editUntil(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      if (random() < 0.5) await addLink()
      else {
        const { id } = links[Math.floor(random() * links.length)] ?? { id: '' }
        const url = `https://example.com/${random()}`
        expectStatus(await api.patch(`/links/${id}`, { url }), 200)
      }
      await sleep(EDIT_PAUSE_MS)
    }
  }

  /** Checkpoints the write-ahead logs continuously, as happens now and then with large files. */
  async function checkpointUntil(stop: AbortSignal): Promise<void> {
    const days = path.join(place.dataDir, 'clicks')
    const files = ['terse.db', 'clicks.db', ...readdirSync(days).map((name) => `clicks/${name}`)]
    const databases = files
      .filter((name) => name.endsWith('.db'))
      .map((name) => new DatabaseSync(path.join(place.dataDir, name), { timeout: 50 }))
    while (!stop.aborted) {
      for (const database of databases) database.exec('pragma wal_checkpoint(passive)')
      await sleep(random() * CHECKPOINT_PAUSE_MS_MAX)
    }
    for (const database of databases) database.close()
  }

  async function copyFolder(to: string, isSlow: boolean): Promise<void> {
    const args = [place.dataDir, to]
    if (isSlow) await run(process.execPath, [SLOW_COPY, ...args])
    // cp complains about files that were removed in the meantime.
    else await run('cp', ['-r', ...args]).catch(() => undefined)
  }

  /** Returns undefined when the copy is rejected. Throws when its numbers are inconsistent. */
  async function tryCopy(dataDir: string, t: TestContext): Promise<Shown | undefined> {
    const port = await freePort()
    const config = readConfig({
      TERSE_DATA_DIR: dataDir,
      TERSE_PORT: String(port),
      TERSE_HOST: '127.0.0.1',
      TERSE_BASE_URL: `http://localhost:${port}`,
      TERSE_DNS_SERVERS: NO_DNS,
      TERSE_ACME_DIRECTORY: NO_ACME,
    })
    const log = pino({ level: 'silent' })
    let instance: Awaited<ReturnType<typeof openInstance>>
    try {
      instance = await openInstance(config, log)
    } catch (error) {
      if (!(error instanceof RefusedFiles)) throw error
      assert.match(error.message, /backup.*terse repair/)
      t.diagnostic(
        `refused: ${error.faults.map(({ file, text }) => `${file}: ${text}`).join('; ')}`,
      )
      return undefined
    }
    try {
      const node = await startNode(config, instance, log)
      // It drains the copied journals.
      await node.stop()
      const { store } = instance
      const shown = { links: 0, clicks: 0 }
      const today = Math.floor(Date.now() / DAY_MS)
      const query = { workspaceId, sort: { field: 'created_at', descending: true } } as const
      for (let offset = 0; ; offset += 100) {
        const { items: rows } = await store.read.links.page({ ...query, offset, limit: 100 })
        if (rows.length === 0) break
        for (const link of rows) {
          const scope = { kind: 'link', workspaceId, linkSeq: link.seq } as const
          const days = await store.read.reports.readDays(scope, today - 1, today, { slots: false })
          const persons = days.reduce((sum, { total }) => sum + total.persons, 0)
          assert.equal(link.clicks, persons, 'the counter and the chart of a link')
          shown.links += 1
          shown.clicks += link.clicks
        }
      }
      const raw = await rawClicksOf(store, { kind: 'workspace', workspaceId })
      assert.equal(raw.length, shown.clicks, 'the exported clicks and the counted ones')
      return shown
    } finally {
      await instance.close()
    }
  }

  test(`are consistent or rejected, for each of ${COPIES} copies`, async (t) => {
    const stopping = new AbortController()
    const pick = () => `/${links[Math.floor(random() * links.length)]?.key}`
    const visitors = sendVisitors(service.port, pick, { pauseMsMax: 4 })
    await eventually(async () => assert.ok(readdirSync(place.dataDir).includes('clicks')))
    const others = [editUntil(stopping.signal), checkpointUntil(stopping.signal)]
    let started = 0
    try {
      for (let number = 0; number < COPIES; number += 1) {
        const { body } = expectStatus(await api.get('/clicks'), 200)
        const known = { links: links.length, clicks: body.total.clicks }
        const copy = path.join(folder, String(number))
        await copyFolder(copy, number % 2 === 1)
        const { answered, started: visits } = visitors.tally
        const shown = await tryCopy(copy, t)
        rmSync(copy, { recursive: true })
        if (shown === undefined) continue
        started += 1
        t.diagnostic(`started with ${shown.clicks} clicks, ${answered} were answered`)
        assert.ok(shown.links >= known.links && shown.clicks >= known.clicks, 'nothing is older')
        assert.ok(shown.clicks <= visits, 'nothing counts twice')
      }
    } finally {
      stopping.abort()
      await visitors.stop()
      await Promise.all(others)
    }
    t.diagnostic(`${started} of ${COPIES} started, ${visitors.tally.answered} visits`)
  })
})
