import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Api, apiClient, expectStatus } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { makeToken } from '../support/make-instance.ts'
import { skipWithout } from '../support/programs.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { manipulateSyncs, type StracedSyncs } from '../support/strace.ts'
import { visit } from '../support/visit.ts'

/** How long each sync takes. */
const SYNC_MS = 3_000
const SLOW = `fsync,fdatasync:delay_enter=${SYNC_MS * 1_000}`
const CLIENTS = 4
const CREATES = 2
/** On an idle machine it is below 50 ms. A visit that waits for the disk waits for a whole sync, or for two. */
const P99_MS_MAX = SYNC_MS / 2
const PAUSE_MS = 5

type Created = { readonly answer: Answer; readonly sentMs: number; readonly answeredMs: number }

describe('a service with SQLite on a bad disk', { skip: skipWithout('strace') }, () => {
  let place: Place
  let service: ServiceProcess
  let api: Api
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    const token = await makeToken(place.env)
    service = await startProcess(place)
    api = apiClient(`http://127.0.0.1:${service.port}`, token)
    expectStatus(await create('slow'), 201)
  })
  after(async () => {
    await service?.kill()
    await place.remove()
  })

  const create = (key?: string) =>
    api.post('/links', { domain: 'localhost', key, url: 'https://example.com/' })
  const pidOf = ({ child }: ServiceProcess) => child.pid as number

  /** Creates links, one after the other for each client. */
  async function createLinks(): Promise<Created[]> {
    const created: Created[] = []
    const client = async () => {
      for (let count = 0; count < CREATES; count += 1) {
        const sentMs = Date.now()
        created.push({ answer: await create(), sentMs, answeredMs: Date.now() })
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    return created
  }

  /** Returns how long visits took while `work` was under way, in ms, of 100 the second longest. */
  async function visitsDuring<T>(work: Promise<T>): Promise<{ p99Ms: number; result: T }> {
    const latenciesMs: number[] = []
    let isOver = false
    const visitor = async () => {
      while (!isOver) {
        const startedMs = performance.now()
        assert.equal((await visit(service.port, '/slow')).status, 302)
        latenciesMs.push(performance.now() - startedMs)
        await sleep(PAUSE_MS)
      }
    }
    const visitors = Array.from({ length: CLIENTS }, visitor)
    const result = await work.finally(() => {
      isOver = true
    })
    await Promise.all(visitors)
    latenciesMs.sort((a, b) => a - b)
    return { p99Ms: latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? 0, result }
  }

  /** Undefined, and the test skipped, when this user may not trace processes. */
  async function manipulate(t: TestContext, injection: string): Promise<StracedSyncs | undefined> {
    try {
      const syncs = await manipulateSyncs(pidOf(service), injection)
      t.after(() => syncs.stop())
      return syncs
    } catch (error) {
      if (process.env.CI) throw error
      t.skip(String(error))
      return undefined
    }
  }

  test('redirects as fast as before while a sync takes three seconds, and creates links after the sync', async (t) => {
    const slow = await manipulate(t, SLOW)
    if (slow === undefined) return
    const during = await visitsDuring(createLinks())
    const syncs = await slow.stop()

    t.diagnostic(`p99 of visits: ${during.p99Ms} ms`)
    assert.ok(during.p99Ms < P99_MS_MAX, `p99 of visits: ${during.p99Ms} ms`)
    const byMain = syncs.filter(({ threadId }) => threadId === pidOf(service))
    assert.deepEqual(byMain, [], 'the thread that redirects waits for no sync')

    assert.equal(during.result.length, CLIENTS * CREATES)
    const ofLog = syncs.filter(({ file }) => file.endsWith('/terse.db-wal'))
    for (const { answer, sentMs, answeredMs } of during.result) {
      expectStatus(answer, 201)
      const own = ofLog.find(
        ({ startedMs, endedMs }) => startedMs >= sentMs && endedMs <= answeredMs,
      )
      assert.ok(own, `no sync of the log from ${sentMs} to ${answeredMs}`)
    }
  })

  test('answers 503 with the folder while no sync works, and creates links again afterwards', async (t) => {
    const failing = await manipulate(t, 'fdatasync:error=EIO')
    if (failing === undefined) return
    const { body } = expectStatus(await create('failed'), 503)
    assert.equal(body.message, `The disk of the folder ${place.dataDir} fails to read or write.`)
    assert.equal((await visit(service.port, '/slow')).status, 302)
    await failing.stop()
    expectStatus(await create('afterwards'), 201)
  })
})
