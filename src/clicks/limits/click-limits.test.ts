import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { cases } from '../../../test/support/properties.ts'
import { Failure } from '../../platform/failure.ts'
import type { Change } from '../../storage/changes.ts'
import { LeasedClicks, type TakeOutcome } from './click-limits.ts'
import { grantOf, type LeaseAnswer, type LeaseRequest, leftOf } from './lease.ts'

const LINK = 7

/** The database of some nodes, with one link: what click-lease-store.ts and the ingestion of journals do, in memory. */
class FakeDatabase {
  maxClicks: number | null
  counted = 0
  isAvailable = true
  /** Whether the next request is carried out, and its answer lost. */
  losesAnswer = false
  readonly leases = new Map<string, { granted: number; held: number; spent: number }>()
  readonly listeners = new Set<(changes: readonly Change[]) => void>()
  nodes = 1

  constructor(maxClicks: number | null) {
    this.maxClicks = maxClicks
  }

  readonly #called: Change[] = []

  open(journalId: string): LeasedClicks {
    const clicks = new LeasedClicks({
      store: {
        write: (work: (stores: unknown) => Promise<LeaseAnswer>) => this.#write(work),
      } as never,
      clock: fakeClock(),
      journalId,
      waits: { waitMsMax: 5_000, retryIntervalMs: 1, busyMs: 0 },
      onError: () => {},
    })
    this.listeners.add((changes) => clicks.apply(changes))
    return clicks
  }

  async #write(work: (stores: unknown) => Promise<LeaseAnswer>): Promise<LeaseAnswer> {
    await Promise.resolve()
    if (!this.isAvailable) throw Failure.unavailable(new Error('down'))
    const answer = await work({
      clickLeases: { renew: async (request: LeaseRequest) => this.#renew(request) },
      changes: { append: async (change: Change) => void this.#called.push(change) },
    })
    const called = this.#called.splice(0)
    if (called.length > 0) for (const listener of this.listeners) listener(called)
    if (this.losesAnswer) {
      this.losesAnswer = false
      throw Failure.unavailable(new Error('the answer was lost'))
    }
    return answer
  }

  #renew({ journalId, granted, held, wanted }: LeaseRequest): LeaseAnswer {
    const own = this.leases.get(journalId) ?? { granted: 0, held: 0, spent: 0 }
    const before = granted ?? own.granted
    this.leases.set(journalId, { ...own, granted: before })
    let outstanding = 0
    let heldElsewhere = 0
    for (const [id, lease] of this.leases) {
      outstanding += Math.max(0, lease.granted - lease.spent)
      if (id !== journalId) heldElsewhere += lease.held
    }
    const { maxClicks, counted, nodes } = this
    const facts = { maxClicks, counted, outstanding, nodes }
    const more = grantOf(facts, wanted)
    this.leases.set(journalId, { ...own, granted: before + more, held: held + more })
    return { maxClicks, granted: before + more, more, left: leftOf(facts) - more, heldElsewhere }
  }

  ingest(journalId: string, clicks: number): void {
    this.counted += clicks
    const lease = this.leases.get(journalId)
    if (lease !== undefined) lease.spent += clicks
  }

  dissolve(journalId: string): void {
    this.leases.delete(journalId)
  }
}

const limited = (maxClicks: number) => ({ seq: LINK, maxClicks })

describe('LeasedClicks', () => {
  test('lets exactly as many through as the limit allows, on three nodes at once', async () => {
    const database = new FakeDatabase(1_000)
    database.nodes = 3
    const nodes = ['a', 'b', 'c'].map((id) => database.open(id))
    const visits = Array.from({ length: 1_500 }, (_, visit) =>
      nodes[visit % 3]?.take(limited(1_000)),
    )
    const outcomes = await Promise.all(visits)
    assert.equal(outcomes.filter((outcome) => outcome === 'taken').length, 1_000)
    assert.equal(outcomes.filter((outcome) => outcome === 'used-up').length, 500)
  })

  test('takes most clicks without waiting for the database', async () => {
    const database = new FakeDatabase(1_000)
    const node = database.open('a')
    let waits = 0
    for (let visit = 0; visit < 1_000; visit += 1) {
      const outcome = node.take(limited(1_000))
      if (outcome instanceof Promise) waits += 1
      assert.equal(await outcome, 'taken')
    }
    assert.ok(waits < 30, `${waits}`)
    assert.equal(await node.take(limited(1_000)), 'used-up')
    assert.equal(node.isUsedUp(limited(1_000)), true)
    assert.equal(node.take(limited(1_000)), 'used-up', 'without a promise')
  })

  test('calls in the clicks that another node holds', async () => {
    const database = new FakeDatabase(100)
    const [a, b] = [database.open('a'), database.open('b')]
    assert.equal(await a.take(limited(100)), 'taken')
    let taken = 1
    while ((await b.take(limited(100))) === 'taken') taken += 1
    assert.equal(taken, 100)
    assert.equal(await a.take(limited(100)), 'used-up')
  })

  test('serves from its lease while the database is down, and fails when that is used up', async () => {
    const database = new FakeDatabase(100)
    const node = database.open('a')
    await node.take(limited(100))
    database.isAvailable = false
    let taken = 0
    await assert.rejects(async () => {
      for (;;) {
        const outcome = node.take(limited(100))
        assert.equal(await outcome, 'taken')
        taken += 1
      }
    })
    assert.equal(taken, 24)
    database.isAvailable = true
    assert.equal(await node.take(limited(100)), 'taken')
  })

  test('gives back a click that was not answered', async () => {
    const database = new FakeDatabase(1)
    const node = database.open('a')
    assert.equal(await node.take(limited(1)), 'taken')
    assert.equal(await node.take(limited(1)), 'used-up')
    node.giveBack(LINK)
    assert.equal(node.isUsedUp(limited(1)), false)
    assert.equal(await node.take(limited(1)), 'taken')
    assert.equal(await node.take(limited(1)), 'used-up')
  })

  test('follows a limit that is raised, lowered or removed', async () => {
    const database = new FakeDatabase(2)
    const node = database.open('a')
    for (const expected of ['taken', 'taken', 'used-up']) {
      assert.equal(await node.take(limited(2)), expected)
    }
    database.maxClicks = 100
    assert.equal(await node.take(limited(100)), 'taken')
    database.maxClicks = 4
    assert.equal(await node.take(limited(4)), 'taken', 'the fourth')
    assert.equal(await node.take(limited(4)), 'used-up')
    database.maxClicks = null
    assert.equal(
      await node.take(limited(5)),
      'unlimited',
      'a cached link that has just lost its limit',
    )
  })

  test('counts the clicks that the link had before', async () => {
    const database = new FakeDatabase(10)
    database.counted = 8
    const node = database.open('a')
    const outcomes: TakeOutcome[] = []
    for (let visit = 0; visit < 4; visit += 1) outcomes.push(await node.take(limited(10)))
    assert.deepEqual(outcomes, ['taken', 'taken', 'used-up', 'used-up'])
  })

  test('returns clicks that no visitor comes for', async () => {
    const database = new FakeDatabase(100)
    const node = database.open('a')
    await node.take(limited(100))
    assert.deepEqual(database.leases.get('a'), { granted: 25, held: 25, spent: 0 })
    node.tick(performance.now() + 61_000)
    await node.stop()
    assert.deepEqual(database.leases.get('a'), { granted: 1, held: 0, spent: 0 })
    node.tick(performance.now() + 601_000)
    assert.equal(node.size, 0)
    assert.equal(await node.take(limited(100)), 'taken', 'and knows again how many it has had')
    assert.equal(database.leases.get('a')?.granted, 1 + 24)
  })
})

type Step =
  | { readonly kind: 'visit'; readonly node: number; readonly count: number }
  | { readonly kind: 'ingest' | 'kill' | 'lose-answer' | 'tick' | 'fail'; readonly node: number }

const NODES = 3
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('visit' as const),
      node: fc.nat({ max: NODES - 1 }),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(['ingest', 'kill', 'lose-answer', 'tick', 'fail'] as const)),
      node: fc.nat({ max: NODES - 1 }),
    }),
  },
)

/** Nodes over one database, each with the clicks in its journal that are not ingested. */
class Cluster {
  readonly database: FakeDatabase
  readonly nodes: { id: string; clicks: LeasedClicks; journalled: number }[] = []
  answered = 0
  readonly #max: number
  #started = 0

  constructor(max: number) {
    this.#max = max
    this.database = new FakeDatabase(max)
    this.database.nodes = NODES
    for (let node = 0; node < NODES; node += 1) this.#start(node)
  }

  #start(node: number): void {
    this.#started += 1
    const id = `journal ${this.#started}`
    this.nodes[node] = { id, clicks: this.database.open(id), journalled: 0 }
  }

  async run(step: Step): Promise<void> {
    const node = this.nodes[step.node]
    if (node === undefined) return
    if (step.kind === 'visit') {
      const visits = Array.from({ length: step.count }, () => this.visit(step.node))
      await Promise.allSettled(visits)
    } else if (step.kind === 'ingest') {
      this.database.ingest(node.id, node.journalled)
      node.journalled = 0
    } else if (step.kind === 'kill') {
      // Another process takes over the journal, ingests it, and ends the lease.
      await node.clicks.stop()
      this.database.ingest(node.id, node.journalled)
      this.database.dissolve(node.id)
      this.#start(step.node)
    } else if (step.kind === 'lose-answer') this.database.losesAnswer = true
    else if (step.kind === 'tick') node.clicks.tick(performance.now() + 61_000)
    else if ((await this.visit(step.node).catch(() => 'busy')) === 'taken') {
      // Its journal could not be written.
      node.journalled -= 1
      this.answered -= 1
      node.clicks.giveBack(LINK)
    }
  }

  async visit(index: number): Promise<TakeOutcome> {
    const node = this.nodes[index]
    if (node === undefined) return 'busy'
    const outcome = await node.clicks.take(limited(this.#max))
    if (outcome === 'taken') {
      node.journalled += 1
      this.answered += 1
    }
    return outcome
  }
}

describe('LeasedClicks, whatever happens', () => {
  test('never lets more through than the limit, and all of them in the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.array(steps, { maxLength: 40 }),
        async (max, history) => {
          const cluster = new Cluster(max)
          for (const step of history) {
            await cluster.run(step)
            assert.ok(cluster.answered <= max, `${cluster.answered} of ${max}`)
          }
          // The clicks that a node was given with an answer that was lost are known again with its next request.
          for (let round = 0; round < 4 * NODES; round += 1) {
            for (let node = 0; node < NODES; node += 1) {
              while ((await cluster.visit(node).catch(() => 'busy')) === 'taken');
            }
          }
          assert.equal(cluster.answered, max)
        },
      ),
      cases(200),
    )
  })
})
