import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Change, hostChange } from '../../src/storage/changes.ts'
import { StaleRow } from '../../src/storage/store.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addLink, insertLink, listOf, NOW, unique } from './samples.ts'

/**
 * On SQLite more in one batch than one statement of the log holds. On PostgreSQL, where each write
 * has its own transaction, no more than find a connection in time on a busy machine.
 */
const WRITES = { SQLite: 60, PostgreSQL: 18 }

describeStore('the write buffer of transactions', (at, engine) => {
  async function loggedSince(cursor: string): Promise<string[]> {
    const { changes = [] } = await at.store.read.changes.since(cursor, 1_000)
    return changes.map(({ subject }) => subject).sort()
  }

  test('writes the rows of transactions that succeed and drops those of transactions that throw, in one batch', async () => {
    const writes = WRITES[engine.name]
    const home = await addHome(at.store)
    const cursor = await at.store.read.changes.end()
    const notified: Change[] = []
    at.store.onChange((changes) => notified.push(...changes))
    const outcomes = await Promise.allSettled(
      Array.from({ length: writes }, (_, index) =>
        at.store.write(async (stores) => {
          await insertLink(stores, home)
          await stores.changes.append(hostChange(`${index}.example`), NOW)
          // The read flushes the buffer, so the rollback must undo written rows too.
          if (index % 5 === 0) await stores.links.page(listOf(home.workspace_id))
          if (index % 3 === 0) throw new Error('on purpose')
          return `${index}.example`
        }),
      ),
    )
    const kept = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value] : [],
    )
    assert.equal(kept.length, writes - Math.ceil(writes / 3))
    const { items, total } = await at.store.read.links.page(
      listOf(home.workspace_id, { limit: writes }),
    )
    assert.equal(total, kept.length)
    assert.equal(items.length, kept.length)
    same(await loggedSince(cursor), kept.sort())
    same(notified.map(({ subject }) => subject).sort(), kept)
  })

  test('writes only the rows of the last run when a transaction is retried', async () => {
    const home = await addHome(at.store)
    const cursor = await at.store.read.changes.end()
    let runs = 0
    await Promise.all([
      addLink(at.store, home),
      at.store.write(async (stores) => {
        runs += 1
        await insertLink(stores, home)
        await stores.changes.append(hostChange(`run-${runs}.example`), NOW)
        if (runs < 3) throw new StaleRow()
      }),
    ])
    same(await loggedSince(cursor), ['run-3.example'])
    assert.equal((await at.store.read.links.page(listOf(home.workspace_id))).total, 2)
  })

  test('flushes before its transaction reads the affected tables', async () => {
    const home = await addHome(at.store)
    const subject = `${unique('host')}.example`
    await at.store.write(async (stores) => {
      const cursor = await stores.changes.end()
      await stores.changes.append(hostChange(subject), NOW)
      const link = await insertLink(stores, home)
      same(await stores.links.page(listOf(home.workspace_id)), { items: [link], total: 1 })
      await stores.links.delete(home.workspace_id, link.id)
      same(await stores.links.page(listOf(home.workspace_id)), { items: [], total: 0 })
      const { changes = [] } = await stores.changes.since(cursor, 10)
      // On PostgreSQL a transaction's own changes are not after a cursor that it took itself.
      assert.ok(changes.every((change) => change.subject === subject))
    })
    assert.equal((await at.store.read.links.page(listOf(home.workspace_id))).total, 0)
  })

  test('throws on a write outside a transaction', async () => {
    await assert.rejects(at.store.read.changes.append(hostChange('x.example'), NOW), /Store\.write/)
  })
})
