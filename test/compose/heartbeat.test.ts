import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { type Heartbeat, startHeartbeat } from '../../src/app/node/heartbeat.ts'
import type { HeldJournal } from '../../src/clicks/ingest/click-intake.ts'
import { BEAT_INTERVAL_MS, nodes } from '../../src/operations/nodes.ts'
import { terseCommand } from '../../src/platform/process/terse-command.ts'
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
  const sharedAddresses: { untrustedProxy: string | undefined } = { untrustedProxy: undefined }
  const lines = new PassThrough({ encoding: 'utf8' })
  let heartbeat: Heartbeat | undefined
  const start = () => {
    heartbeat = startHeartbeat({
      nodes: registry,
      intake: { journalId: own.id, held: () => [own, ...orphans] },
      sharedAddresses,
      clock,
      process: 1,
      log: pino(lines),
    })
    return heartbeat
  }
  /** Waits until the renewals under way are over: before, one would judge rows by a time that is moved on meanwhile. */
  const settled = () => heartbeat?.forget(unique('journal'))
  return {
    own,
    orphans,
    sharedAddresses,
    registry,
    start,
    /** Adds another node whose last heartbeat is now. */
    async addOther() {
      const other = { ...newNode(unique('journal')), beat_at: clock.nowMicros() }
      await at.store.write((stores) => stores.nodes.beat(other))
      return other.id
    },
    /** Lets time pass, and waits until this node’s heartbeat is renewed. */
    async beatAfter(seconds: number) {
      await settled()
      clock.move(seconds)
      t.mock.timers.tick(BEAT_INTERVAL_MS)
      await eventually(async () => {
        const listed = await registry.list()
        assert.equal(listed.find(({ id }) => id === own.id)?.beat_at, clock.nowMicros())
      })
    },
    pass: (seconds: number) => clock.move(seconds),
    ids: async () => (await registry.list()).map(({ id }) => id).sort(),
    /** The messages since the last call, each with the node that it names. */
    messages(): string[] {
      const text = String(lines.read() ?? '').trim()
      if (text === '') return []
      return text.split('\n').map((line) => {
        const { msg, node, command } = JSON.parse(line)
        if (node === undefined) return msg
        assert.deepEqual({ msg, command }, { msg: 'node lost', command: REPLAY })
        return `${node} is gone`
      })
    },
  }
}

describeStore('startHeartbeat', (at) => {
  test('reports a lost node once', async (t) => {
    const { addOther, start, messages, beatAfter } = await setUp(t, at)
    const other = await addOther()
    const heartbeat = start()
    await beatAfter(BEAT_SECONDS)
    await beatAfter(LOST_SECONDS)
    await beatAfter(BEAT_SECONDS)
    await heartbeat.stop(journal())
    assert.deepEqual(messages(), [`${other} is gone`])
  })

  test('stores a proxy that it does not trust', async (t) => {
    const { own, sharedAddresses, start, registry, beatAfter } = await setUp(t, at)
    const stored = async () =>
      (await registry.list()).find(({ id }) => id === own.id)?.untrusted_proxy
    const heartbeat = start()
    await beatAfter(BEAT_SECONDS)
    assert.equal(await stored(), null)
    sharedAddresses.untrustedProxy = '172.18.0.5'
    await beatAfter(BEAT_SECONDS)
    assert.equal(await stored(), '172.18.0.5')
    await heartbeat.stop(journal())
  })

  test('renews every five seconds while counting is behind, and once when it has caught up', async (t) => {
    const { own, orphans, start, registry, pass } = await setUp(t, at)
    const heartbeat = start()
    const listed = async () => (await registry.list()).find(({ id }) => id === own.id)
    await eventually(async () => assert.ok(await listed()))
    for (const isBehind of [true, true, false]) {
      const before = (await listed())?.beat_at
      orphans.splice(0, 1, ...(isBehind ? [journal(1)] : []))
      pass(5)
      t.mock.timers.tick(5_000)
      await eventually(async () => assert.notEqual((await listed())?.beat_at, before))
    }
    await heartbeat.stop(journal())
  })

  test('reports journals that were taken over until they are empty', async (t) => {
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

  test('fails to forget a journal while the database is unavailable, and succeeds later', async (t) => {
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

  for (const { seconds, isReported } of [
    { seconds: LOST_SECONDS - 1, isReported: false },
    { seconds: LOST_SECONDS, isReported: true },
  ]) {
    const reporting = isReported ? 'reports a lost node' : 'reports no node'
    test(`${reporting} ${seconds} s after an outage that silenced every node`, async (t) => {
      const { addOther, start, beatAfter, ids, messages } = await setUp(t, at)
      const heartbeat = start()
      await beatAfter(BEAT_SECONDS)
      const other = await addOther()
      const faults = failStatements(() => true)
      t.mock.timers.tick(BEAT_INTERVAL_MS)
      await eventually(async () => assert.match(String(messages()), /heartbeat failed/))
      faults.mend()
      // Waits until the store has noticed that the database is back.
      await eventually(() => ids())
      await beatAfter(LOST_SECONDS + 1)
      await beatAfter(seconds)
      await heartbeat.stop(journal())
      assert.deepEqual(messages(), isReported ? [`${other} is gone`] : [])
    })
  }

  test('reports no node soon after a start, because an outage may have preceded it', async (t) => {
    const { addOther, pass, start, beatAfter, messages } = await setUp(t, at)
    await addOther()
    pass(LOST_SECONDS + 1)
    const heartbeat = start()
    await beatAfter(LOST_SECONDS - 1)
    await heartbeat.stop(journal())
    assert.deepEqual(messages(), [])
  })

  test('keeps a node listed that stops with clicks in its journal', async (t) => {
    const { own, start, registry } = await setUp(t, at)
    await start().stop({ bytes: 77, oldestMicros: 5 })
    const [listed] = await registry.list()
    assert.deepEqual([listed?.id, listed?.backlog_bytes, listed?.oldest_click_at], [own.id, 77, 5])
  })
})
