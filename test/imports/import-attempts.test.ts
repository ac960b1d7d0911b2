import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Import, LEASE_MICROS } from '../../src/imports/import.ts'
import { ImportFiles } from '../../src/imports/import-files.ts'
import { ImportJobs } from '../../src/imports/import-jobs.ts'
import { newImport } from '../storage/samples.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { linkServices } from '../support/link-services.ts'
import { describeStore } from '../support/store.ts'

const SECOND_MICROS = 1_000_000
const LEASE_SECONDS = LEASE_MICROS / SECOND_MICROS
const MINUTE_MICROS = 60 * SECOND_MICROS

describeStore('a node that runs imports', (at) => {
  /** One import that is due, and its processes, which do nothing. */
  async function runningImport(overrides: Partial<Import> = {}) {
    const { actor } = await linkServices(at)
    const { store } = at
    const clock = fakeClock()
    const ended: PromiseWithResolvers<void>[] = []
    const seen = { stopped: 0, killed: 0, givenUp: [] as string[] }
    let freed = Promise.withResolvers<void>()
    const jobs = new ImportJobs({
      store,
      clock,
      files: new ImportFiles(at.place.dataDir),
      start() {
        const ending = Promise.withResolvers<void>()
        ended.push(ending)
        const end = (counter: 'stopped' | 'killed') => () => {
          seen[counter] += 1
          ending.resolve()
        }
        return { ended: ending.promise, stop: end('stopped'), kill: end('killed') }
      },
      onFree: () => freed.resolve(),
      onHung: () => {},
      onGivenUp: ({ id }) => seen.givenUp.push(id),
    })
    const added = newImport(actor.workspaceId, {
      source: 'shlink',
      runner: 'service',
      status: 'queued',
      next_at: clock.nowMicros(),
      ...overrides,
    })
    await store.write((stores) => stores.imports.insert(added))
    const latest = async () => {
      const found = await store.read.imports.find(actor.workspaceId, added.id)
      assert.ok(found)
      return found
    }
    return {
      ...{ jobs, clock, seen, latest, actor },
      attempts: () => ended.length,
      /** Ends the newest process without a word. */
      async crash() {
        freed = Promise.withResolvers<void>()
        ended.at(-1)?.resolve()
        await freed.promise
      },
      async end() {
        const { id, fence } = await latest()
        await store.write(({ imports }) => imports.update(id, fence, { next_at: null }))
        await jobs.stop()
      },
    }
  }

  test('gives an import up whose process crashes each time, after growing waits', async () => {
    const { jobs, clock, seen, latest, actor, attempts, crash } = await runningImport()
    const waits: number[] = []
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const dueAt = (await latest()).next_at ?? 0
      const leasedUntil = (await latest()).lease_until ?? 0
      waits.push(Math.round((dueAt - clock.nowMicros()) / 1_000_000))
      clock.move(Math.max(0, dueAt - clock.nowMicros() - 1) / SECOND_MICROS)
      if (attempt > 1) await jobs.startDue()
      assert.equal(attempts(), attempt - 1, 'not before its time')
      clock.move(Math.max(1, leasedUntil - clock.nowMicros()) / SECOND_MICROS)
      await jobs.startDue()
      assert.equal(attempts(), attempt)
      await crash()
    }
    assert.deepEqual(waits, [0, 5, 20, 80, 320])
    clock.move(60 * 60)
    await jobs.startDue()
    assert.equal(attempts(), 5)
    const { status, fault, next_at, id } = await latest()
    assert.deepEqual([status, next_at, seen.givenUp], ['failed', null, [id]])
    assert.match(fault ?? '', /broke off too many times/)
    const { items } = await at.store.read.events.run({
      workspaceId: actor.workspaceId,
      subjectId: id,
      limit: 10,
      beyond: undefined,
    })
    assert.deepEqual(
      items.map(({ type }) => type),
      ['import.failed'],
    )
  })

  test('ends a cancelled import too', async () => {
    const { jobs, latest, attempts } = await runningImport({ status: 'cancelled', attempts: 5 })
    await jobs.startDue()
    const { status, next_at } = await latest()
    assert.deepEqual([attempts(), status, next_at], [0, 'cancelled', null])
  })

  test('does not count an attempt that it was asked to stop', async () => {
    const { jobs, clock, seen, latest, end } = await runningImport({ attempts: 4 })
    await jobs.startDue()
    assert.equal((await latest()).attempts, 5)
    await jobs.stop()
    const { attempts, next_at, lease_until } = await latest()
    assert.deepEqual([attempts, next_at, lease_until], [4, clock.nowMicros(), null])
    assert.equal(seen.stopped, 1)
    await end()
  })

  test('leaves an import alone that ended while it was asked to stop', async () => {
    const { jobs, end, latest } = await runningImport()
    await jobs.startDue()
    await end()
    assert.equal((await latest()).next_at, null)
  })

  test('counts from the beginning after an attempt that ran for long', async () => {
    const now = fakeClock().nowMicros()
    const leased = { leased_at: now - 20 * MINUTE_MICROS, lease_until: now - MINUTE_MICROS }
    const { jobs, latest, end } = await runningImport({ attempts: 5, ...leased })
    await jobs.startDue()
    assert.equal((await latest()).attempts, 1)
    await end()
  })

  test('runs one import of a workspace at a time on all nodes, and lets it hold up no other', async () => {
    const workspaces = [await linkServices(at), await linkServices(at)].map(
      ({ actor }) => actor.workspaceId,
    )
    const [busy = '', other = ''] = workspaces
    const clock = fakeClock()
    const due = (workspaceId: string, minutesAgo: number) =>
      newImport(workspaceId, {
        ...{ source: 'shlink', runner: 'service' as const, status: 'queued' as const },
        next_at: clock.nowMicros() - minutesAgo * MINUTE_MICROS,
      })
    const waiting = Array.from({ length: 66 }, (_, index) => due(busy, 100 - index))
    const added = [...waiting, due(other, 0)]
    await at.store.write(async ({ imports }) => {
      for (const each of added) await imports.insert(each)
    })
    const running: { leased: Import; ending: PromiseWithResolvers<void> }[] = []
    const node = () =>
      new ImportJobs({
        ...{ store: at.store, clock, files: new ImportFiles(at.place.dataDir) },
        start(leased) {
          const ending = Promise.withResolvers<void>()
          running.push({ leased, ending })
          return { ended: ending.promise, stop: () => ending.resolve(), kill: () => {} }
        },
        ...{ onFree: () => {}, onHung: () => {}, onGivenUp: () => {} },
      })
    const nodes = [node(), node()]
    await Promise.all(nodes.map((each) => each.startDue()))
    const mine = running.filter(({ leased }) => workspaces.includes(leased.workspace_id))
    assert.deepEqual(new Set(mine.map(({ leased }) => leased.workspace_id)), new Set(workspaces))
    assert.equal(mine.length, 2)
    assert.equal(
      mine.find(({ leased }) => leased.workspace_id === busy)?.leased.id,
      waiting[0]?.id,
      'the one that waits for longest',
    )
    await Promise.all(nodes.map((each) => each.stop()))
    await at.store.write(async ({ imports }) => {
      for (const { id } of added) await imports.delete(id)
    })
  })

  test('kills a process that does not renew its lease', async () => {
    const { jobs, clock, seen, latest, end } = await runningImport()
    await jobs.startDue()
    clock.move(LEASE_SECONDS + 1)
    await jobs.startDue()
    // As after an outage of the database.
    const { id, fence } = await latest()
    const lease_until = clock.nowMicros() + LEASE_MICROS
    await at.store.write(({ imports }) => imports.update(id, fence, { lease_until }))
    await jobs.startDue()
    clock.move(LEASE_SECONDS + 1)
    await jobs.startDue()
    clock.move(2 * LEASE_SECONDS - 1)
    await jobs.startDue()
    assert.equal(seen.killed, 0)
    clock.move(1)
    await jobs.startDue()
    assert.equal(seen.killed, 1)
    await end()
  })
})
