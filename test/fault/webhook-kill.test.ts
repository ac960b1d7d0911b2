import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { random } from '../support/random.ts'
import { type Service, startService } from '../support/service.ts'
import { startProcess } from '../support/service-process.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { findWebhookSender } from '../support/webhook-sender.ts'
import { assertAlive } from '../support/worker-pids.ts'

const ROUNDS = formSetting('WEBHOOK_KILLS')
const LINKS = 60
/** A lease of a killed process ends after 10 s, and the node starts another process after 2 s. */
const DEADLINE_MS = 60_000

for (const engine of ENGINES) {
  describe(`webhooks whose process is killed, on ${engine.title}`, () => {
    let service: Service
    let api: Api
    const receivers: WebhookReceiver[] = []
    before(async () => {
      service = await startService(engine, { TERSE_WEBHOOK_ALLOW: '127.0.0.0/8' })
      api = await service.api()
      receivers.push(await startReceiver(), await startReceiver())
    })
    after(async () => {
      await service.stop()
      for (const receiver of receivers) await receiver.close()
    })

    /** Makes them in several requests: a busy machine answers before all of one are made. */
    async function createLinks(): Promise<string[]> {
      const ids: string[] = []
      await eventually(async () => {
        const links = Array.from({ length: LINKS - ids.length }, () => ({
          ...{ domain: 'localhost', url: 'https://example.com/' },
        }))
        const { body } = await api.post('/links/bulk', { action: 'create', links })
        const results: { id: string | null }[] = body.results ?? []
        ids.push(...results.flatMap(({ id }) => id ?? []))
        assert.equal(ids.length, LINKS)
      }, DEADLINE_MS)
      return ids
    }

    test(`deliver every event after ${ROUNDS} kills, in order where that is asked`, async () => {
      for (const [nth, { url }] of receivers.entries()) {
        const webhook = { url, events: ['link.created'], ordered: nth === 0 }
        expectStatus(await api.post('/webhooks', webhook), 201)
      }
      const made: string[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = receivers.map(({ calls }) => calls.length)
        made.push(...(await createLinks()))
        await eventually(async () => {
          assert.ok(receivers.some(({ calls }, nth) => calls.length > (before[nth] ?? 0)))
        }, DEADLINE_MS)
        await sleep(random() * 300)
        // The one before may just have been killed.
        const sender = await eventually(
          async () => findWebhookSender() ?? assert.fail(),
          DEADLINE_MS,
        )
        process.kill(sender, 'SIGKILL')
      }
      for (const { calls } of receivers) {
        await eventually(async () => {
          const got = new Set(calls.map(({ data }) => data.subject_id))
          assert.equal(made.filter((id) => !got.has(id)).length, 0)
        }, DEADLINE_MS)
      }
      const [ordered] = receivers
      const first = new Map(ordered?.calls.map(({ id, data }) => [id, data.sequence]))
      const sequences = [...first.values()]
      assert.deepEqual(
        sequences,
        sequences.toSorted((a, b) => a - b),
      )
    })
  })
}

describe('the process that sends webhooks', () => {
  /** A node whose process waits for a receiver that does not answer. */
  async function startSending(t: TestContext) {
    let calls = 0
    const receiver = createServer(() => {
      calls += 1
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    t.after(() => {
      receiver.closeAllConnections()
      receiver.close()
    })
    const place = await SQLITE.createMigratedPlace()
    t.after(() => place.remove())
    const token = await makeToken(place.env)
    const node = await startProcess(place, { TERSE_WEBHOOK_ALLOW: '127.0.0.0/8' })
    t.after(() => node.kill())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const api = apiClient(`http://127.0.0.1:${node.port}`, token)
    expectStatus(await api.post('/webhooks', { url, events: ['link.created'] }), 201)
    const sender = await eventually(
      async () => findWebhookSender(node.child.pid) ?? assert.fail(),
      DEADLINE_MS,
    )
    const link = { domain: 'localhost', url: 'https://example.com/' }
    return {
      ...{ node, sender },
      async call() {
        expectStatus(await api.post('/links', link), 201)
        await eventually(async () => assert.equal(calls, 1), DEADLINE_MS)
      },
    }
  }

  test('stops with its node, which waits for no receiver', async (t) => {
    const { node, sender, call } = await startSending(t)
    await call()
    assert.equal(await node.stop(), 0, node.output().stderr)
    assertAlive([sender], false)
    assert.doesNotMatch(node.output().stderr, /webhook process/)
  })

  test('logs no crash when its node stops it during its start', async (t) => {
    const { node, sender } = await startSending(t)
    assert.equal(await node.stop(), 0, node.output().stderr)
    assertAlive([sender], false)
    assert.doesNotMatch(node.output().stderr, /webhook process/)
  })

  test('ends after its node was killed', async (t) => {
    const { node, sender, call } = await startSending(t)
    await call()
    await node.kill()
    // Sooner than its lease and the answer end.
    await eventually(async () => assertAlive([sender], false), 8_000)
  })
})
