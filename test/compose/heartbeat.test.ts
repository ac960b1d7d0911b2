import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { pino } from 'pino'
import { startHeartbeat } from '../../src/app/node/heartbeat.ts'
import type { HeldJournal } from '../../src/clicks/ingest/click-intake.ts'
import { BEAT_INTERVAL_MS } from '../../src/operations/nodes/node.ts'
import { nodes } from '../../src/operations/nodes/nodes.ts'
import { terseCommand } from '../../src/platform/process/command-words.ts'
import { newNode, unique } from '../storage/samples.ts'
import { eventually } from '../support/eventually.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { failStatements } from '../support/statement-faults.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'

const BEAT_SECONDS = BEAT_INTERVAL_MS / 1_000
const LOST_SECONDS = 90
const REPLAY = terseCommand('journal replay <its data folder>')

function journal(bytes = 0): HeldJournal {
  return { id: unique('journal'), bytes, oldestMicros: bytes === 0 ? undefined : 1_000 }
}

async function setUp(t: TestContext, at: StoreUnderTest) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  await at.db.deleteFrom('nodes').execute()
  const clock = fakeClock()
  const registry = nodes({ store: at.store, clock })
  const own = journal()
  const orphans: HeldJournal[] = []
  const lines = new PassThrough({ encoding: 'utf8' })
  const start = () =>
    startHeartbeat({
      nodes: registry,
      intake: { journalId: own.id, held: () => [own, ...orphans] },
      clock,
      process: 1,
      log: pino(lines),
    })
  return {
    own,
    orphans,
    registry,
    start,
    /** Another node, that was heard of now for the last time. */
    async addOther() {
      const other = { ...newNode(unique('journal')), beat_at: clock.nowMicros() }
      await at.store.write((stores) => stores.nodes.beat(other))
      return other.id
    },
    /** Lets time pass, and this node be heard of again. */
    async beatAfter(seconds: number) {
      clock.move(seconds)
      t.mock.timers.tick(BEAT_INTERVAL_MS)
      await eventually(async () => {
        const listed = await registry.list()
        assert.equal(listed.find(({ id }) => id === own.id)?.beat_at, clock.nowMicros())
      })
    },
    pass: (seconds: number) => clock.move(seconds),
    ids: async () => (await registry.list()).map(({ id }) => id).sort(),
    /** The messages since the last time, each with the node that it is about. */
    messages(): string[] {
      const text = String(lines.read() ?? '').trim()
      if (text === '') return []
      return text.split('\n').map((line) => {
        const { msg, node, command } = JSON.parse(line)
        if (node === undefined) return msg
        assert.deepEqual({ msg, command }, { msg: 'a node is gone', command: REPLAY })
        return `${node} is gone`
      })
    },
  }
}

describeStore('the heartbeat', (at) => {
  test('tells of a node that is lost, once', async (t) => {
    const { addOther, start, messages, beatAfter } = await setUp(t, at)
    const other = await addOther()
    const heartbeat = start()
    await beatAfter(BEAT_SECONDS)
    await beatAfter(LOST_SECONDS)
    await beatAfter(BEAT_SECONDS)
    await heartbeat.stop(journal())
    assert.deepEqual(messages(), [`${other} is gone`])
  })

  test('speaks for the journals that were taken over, until nothing is left of them', async (t) => {
    const { own, orphans, start, registry, beatAfter, ids, messages } = await setUp(t, at)
    const orphan = journal(4_321)
    orphans.push(orphan)
    const heartbeat = start()
    await eventually(async () => {
      const listed = await registry.list()
      const waiting = listed.map(({ id, backlog_bytes }) => [id, backlog_bytes])
      assert.deepEqual(
        new Map(waiting as [string, number][]),
        new Map([
          [own.id, 0],
          [orphan.id, 4_321],
        ]),
      )
    })
    await beatAfter(LOST_SECONDS + 1)
    orphans.pop()
    await heartbeat.forget(orphan.id)
    assert.deepEqual(await ids(), [own.id])
    await heartbeat.stop(journal())
    assert.deepEqual(await ids(), [])
    assert.deepEqual(messages(), [])
  })

  test('fails to forget a journal while the database is away, and can be asked again', async (t) => {
    const { own, orphans, start, beatAfter, ids } = await setUp(t, at)
    const orphan = journal(1)
    orphans.push(orphan)
    const heartbeat = start()
    await beatAfter(BEAT_SECONDS)
    orphans.pop()
    const faults = failStatements(() => true)
    await assert.rejects(heartbeat.forget(orphan.id))
    faults.mend()
    await eventually(async () => assert.equal((await ids()).length, 2))
    await heartbeat.forget(orphan.id)
    assert.deepEqual(await ids(), [own.id])
    await heartbeat.stop(journal())
  })

  for (const { seconds, isTold } of [
    { seconds: LOST_SECONDS - 1, isTold: false },
    { seconds: LOST_SECONDS, isTold: true },
  ]) {
    const telling = isTold ? 'tells of who is lost' : 'tells of nobody'
    test(`${telling} ${seconds} s after an outage, in which nobody was heard of`, async (t) => {
      const { addOther, start, beatAfter, ids, messages } = await setUp(t, at)
      const heartbeat = start()
      await beatAfter(BEAT_SECONDS)
      const other = await addOther()
      const faults = failStatements(() => true)
      t.mock.timers.tick(BEAT_INTERVAL_MS)
      await eventually(async () => assert.match(String(messages()), /not told/))
      faults.mend()
      // It is looked for now and then whether the database is back.
      await eventually(() => ids())
      await beatAfter(LOST_SECONDS + 1)
      await beatAfter(seconds)
      await heartbeat.stop(journal())
      assert.deepEqual(messages(), isTold ? [`${other} is gone`] : [])
    })
  }

  test('tells of nobody soon after a start, which may be soon after an outage', async (t) => {
    const { addOther, pass, start, beatAfter, messages } = await setUp(t, at)
    await addOther()
    pass(LOST_SECONDS + 1)
    const heartbeat = start()
    await beatAfter(LOST_SECONDS - 1)
    await heartbeat.stop(journal())
    assert.deepEqual(messages(), [])
  })

  test('leaves a node listed that stops with clicks in its journal', async (t) => {
    const { own, start, registry } = await setUp(t, at)
    await start().stop({ bytes: 77, oldestMicros: 5 })
    const [listed] = await registry.list()
    assert.deepEqual([listed?.id, listed?.backlog_bytes, listed?.oldest_click_at], [own.id, 77, 5])
  })
})
