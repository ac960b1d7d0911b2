import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CompiledQuery, Kysely, PostgresAdapter, PostgresQueryCompiler, sql } from 'kysely'
import { someClick } from '../../../test/support/clicks.ts'
import type { Schema } from '../../storage/schema.ts'
import { ClickColumns } from '../click-columns.ts'
import { OwnerCache, orderByLink } from './batch-deltas.ts'

const EXPIRED_MS = 60_000

/** A database whose queries wait until they are answered. */
function waitingDatabase() {
  const queries: { readonly seqs: readonly number[]; answer(): void }[] = []
  const asked = new Map<number, () => void>()
  const connection = {
    executeQuery<R>({ parameters }: CompiledQuery) {
      const seqs = JSON.parse(String(parameters[0])) as number[]
      const { promise, resolve } = Promise.withResolvers<{ rows: R[] }>()
      const rows = seqs.map((seq) => ({ seq, workspace_id: 'acme', keyspace_id: seq })) as R[]
      queries.push({ seqs, answer: () => resolve({ rows }) })
      asked.get(queries.length)?.()
      return promise
    },
    async *streamQuery() {},
  }
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: () => assert.fail(),
      createDriver: () => ({
        init: async () => {},
        acquireConnection: async () => connection,
        beginTransaction: async () => {},
        commitTransaction: async () => {},
        rollbackTransaction: async () => {},
        releaseConnection: async () => {},
        destroy: async () => {},
      }),
    },
  })
  /** Resolves with the nth query, from 1 on. */
  async function query(nth: number) {
    if (queries.length < nth) await new Promise<void>((resolve) => asked.set(nth, resolve))
    return queries[nth - 1] ?? assert.fail()
  }
  return { db, query }
}

const clicksOn = (...seqs: readonly number[]) =>
  ClickColumns.of(seqs.map((link_seq) => someClick({ link_seq, at: 1 })))

describe('OwnerCache', () => {
  test('finds all owners of a batch, also if the cache expires while its query is pending', async (t) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    const { db, query } = waitingDatabase()
    const sequence = { last: async () => 9, skipTo: async () => {} }
    const cache = new OwnerCache(db, sequence, (seqs) => sql`seq in ${JSON.stringify(seqs)}`)
    const load = (clicks: ClickColumns) => cache.load(clicks, orderByLink(clicks))
    const first = load(clicksOn(1))
    ;(await query(1)).answer()
    await first

    const slow = load(clicksOn(1, 2))
    assert.deepEqual((await query(2)).seqs, [2], 'the first is cached')
    nowMs = EXPIRED_MS
    const other = load(clicksOn(3))
    ;(await query(3)).answer()
    assert.equal((await other)(3)?.keyspace_id, 3)
    ;(await query(2)).answer()
    const ownerOf = await slow
    assert.deepEqual([ownerOf(1)?.keyspace_id, ownerOf(2)?.keyspace_id], [1, 2])
  })
})
