import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { random } from '../support/random.ts'
import { type Service, startService } from '../support/service.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const ROUNDS = formSetting('WEBHOOK_KILLS')
const LINKS = 60
/** A lease of a killed process ends after 10 s, and the node starts another process after 2 s. */
const DEADLINE_MS = 60_000

/** The process of this service that sends webhooks. */
function findSender(): number | undefined {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).find((pid) => {
    try {
      const [, parent] = /\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return Number(parent) === process.pid && command.includes('webhook-process')
    } catch {
      // It has ended meanwhile.
      return false
    }
  })
}

for (const engine of ENGINES) {
  describe(`webhooks whose process is killed, on ${engine.name}`, () => {
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

    test(`deliver every event after ${ROUNDS} kills, in order where that is asked`, async () => {
      for (const [nth, { url }] of receivers.entries()) {
        const webhook = { url, events: ['link.created'], ordered: nth === 0 }
        expectStatus(await api.post('/webhooks', webhook), 201)
      }
      const made: string[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = receivers.map(({ calls }) => calls.length)
        const links = Array.from({ length: LINKS }, () => ({
          ...{ domain: 'localhost', url: 'https://example.com/' },
        }))
        const { body } = await api.post('/links/bulk', { action: 'create', links })
        assert.equal(body.succeeded, LINKS)
        made.push(...body.results.map(({ id }: { id: string }) => id))
        await eventually(async () => {
          assert.ok(receivers.some(({ calls }, nth) => calls.length > (before[nth] ?? 0)))
        }, DEADLINE_MS)
        await sleep(random() * 300)
        // The one before may just have been killed.
        const sender = await eventually(async () => findSender() ?? assert.fail(), DEADLINE_MS)
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
      assert.equal(sequences.length, made.length)
    })
  })
}
