import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClickColumns } from '../../src/clicks/click-columns.ts'
import type { LeaseAnswer, LeaseRequest } from '../../src/clicks/limits/lease.ts'
import { openWriterAt } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { describeStore } from '../support/store.ts'
import { addHome, addLink, NOW, newNode, unique } from './samples.ts'

const SILENT_MICROS = 91 * 1_000_000

describeStore('the store of click leases', (at) => {
  async function limitedLink(max_clicks: number | null): Promise<number> {
    return (await addLink(at.store, await addHome(at.store), { max_clicks })).seq
  }

  function renew(request: Partial<LeaseRequest> & { linkSeq: number }): Promise<LeaseAnswer> {
    const own = { journalId: 'journal', granted: 0, held: 0, wanted: 1, atMicros: NOW }
    return at.store.write(({ clickLeases }) => clickLeases.renew({ ...own, ...request }))
  }

  const useOf = (linkSeq: number, atMicros = NOW) =>
    at.store.read.clickLeases.findUse(linkSeq, atMicros)

  /** Ingests people's clicks of a journal, of which some took one of the limit. */
  async function ingest(linkSeq: number, journalId: string, clicks: number, limited: number) {
    const writer = await openWriterAt(at.place)
    const each = Array.from({ length: clicks }, (_, nth) =>
      someClick({ at: NOW, link_seq: linkSeq, ...(nth < limited && { isLimited: true }) }),
    )
    const from = await writer.findPosition(journalId)
    const to = { segment: (from?.segment ?? 0) + 1, offset: 0 }
    const columns = ClickColumns.of(each)
    assert.ok(await writer.write({ journalId, from, to, clicks: columns, atMicros: NOW }))
    await writer.close()
  }

  test('grants shares of what is left, and no more in all than the limit', async () => {
    const linkSeq = await limitedLink(100)
    const a = unique('journal')
    const first = await renew({ linkSeq, journalId: a })
    assert.deepEqual(first, { maxClicks: 100, granted: 25, more: 25, left: 75, heldElsewhere: 0 })
    const b = unique('journal')
    const second = await renew({ linkSeq, journalId: b, wanted: 100 })
    assert.deepEqual(second, { maxClicks: 100, granted: 75, more: 75, left: 0, heldElsewhere: 25 })
    const third = await renew({ linkSeq, journalId: unique('journal') })
    assert.deepEqual([third.more, third.left, third.heldElsewhere], [0, 0, 100])
    assert.deepEqual(await useOf(linkSeq), { left: 0, held: 100 })
  })

  test('takes over what a process states, also what it returns', async () => {
    const linkSeq = await limitedLink(100)
    const journalId = unique('journal')
    await renew({ linkSeq, journalId })
    // 5 were taken, and 20 are returned.
    const returned = await renew({ linkSeq, journalId, granted: 5, wanted: 0 })
    assert.deepEqual([returned.granted, returned.more, returned.left], [5, 0, 95])
    // An answer that it never got.
    await renew({ linkSeq, journalId, granted: 5 })
    const again = await renew({ linkSeq, journalId, granted: 5, wanted: 0 })
    assert.deepEqual([again.granted, again.left], [5, 95])
    // A process that has forgotten the link.
    const known = await renew({ linkSeq, journalId, granted: undefined, wanted: 0 })
    assert.deepEqual([known.granted, known.left], [5, 95])
  })

  test('has the same left before and after clicks are ingested', async () => {
    const linkSeq = await limitedLink(100)
    const journalId = unique('journal')
    await renew({ linkSeq, journalId, wanted: 40 })
    await ingest(linkSeq, journalId, 30, 30)
    assert.deepEqual(await useOf(linkSeq), { left: 60, held: 40 })
    // Others come on top, as from before the limit was set.
    await ingest(linkSeq, journalId, 10, 0)
    assert.deepEqual(await useOf(linkSeq), { left: 50, held: 40 })
    await ingest(linkSeq, journalId, 10, 10)
    const answer = await renew({ linkSeq, journalId, granted: 40, held: 0, wanted: 0 })
    assert.deepEqual([answer.left, (await useOf(linkSeq))?.held], [50, 0])
  })

  test('frees what a process held when its node is removed, and not before', async () => {
    const linkSeq = await limitedLink(100)
    const journalId = unique('journal')
    await at.store.write(({ nodes }) => nodes.beat(newNode(journalId)))
    await renew({ linkSeq, journalId, wanted: 40 })
    await ingest(linkSeq, journalId, 30, 30)
    const forget = (before: number) =>
      at.store.write(({ nodes }) => nodes.forget(journalId, before))
    await forget(NOW)
    assert.equal((await useOf(linkSeq))?.left, 60, 'it has sent a heartbeat since')
    await forget(NOW + 1)
    assert.deepEqual(await useOf(linkSeq), { left: 70, held: 0 })
  })

  test('does not wait for a process that has been silent for 90 s', async () => {
    const linkSeq = await limitedLink(10)
    await renew({ linkSeq, journalId: unique('journal'), wanted: 10 })
    const atMicros = NOW + SILENT_MICROS
    const { more, left, heldElsewhere } = await renew({ linkSeq, atMicros })
    assert.deepEqual({ more, left, heldElsewhere }, { more: 0, left: 0, heldElsewhere: 0 })
  })

  test('grants none of a link without a limit, or that does not exist', async () => {
    const linkSeq = await limitedLink(null)
    const { maxClicks, more } = await renew({ linkSeq })
    assert.deepEqual({ maxClicks, more }, { maxClicks: null, more: 0 })
    assert.equal(await useOf(linkSeq), undefined)
    assert.equal((await renew({ linkSeq: 999_999 })).maxClicks, null)
  })

  test('grants concurrent processes no more than the limit', async () => {
    const linkSeq = await limitedLink(50)
    const { store: other } = await at.another()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, nth) => {
        const request = { linkSeq, journalId: unique('journal'), granted: 0, held: 0, wanted: 5 }
        const store = nth % 2 === 0 ? at.store : other
        return store.write(({ clickLeases }) => clickLeases.renew({ ...request, atMicros: NOW }))
      }),
    )
    assert.equal(
      answers.reduce((sum, { more }) => sum + more, 0),
      50,
    )
  })

  test('drops the counts of ended leases, and those of deleted links', async () => {
    const linkSeq = await limitedLink(100)
    const [ended, running] = [unique('journal'), unique('journal')]
    for (const journalId of [ended, running]) {
      await renew({ linkSeq, journalId, wanted: 10 })
      await ingest(linkSeq, journalId, 4, 4)
    }
    await at.store.write(({ nodes }) => nodes.forget(ended, NOW))
    const writer = await openWriterAt(at.place)
    await writer.maintain(1, undefined)
    const journals = async () => {
      const rows = await at.db
        .selectFrom('leased_clicks')
        .select('journal_id')
        .where('link_seq', '=', linkSeq)
        .execute()
      return rows.map(({ journal_id }) => journal_id)
    }
    assert.deepEqual(await journals(), [running])
    // 4 of each are counted, and 18 - 4 are outstanding.
    assert.equal((await useOf(linkSeq))?.left, 100 - 8 - 14)
    await writer.erase({ kind: 'links', linkSeqs: [linkSeq] })
    await writer.close()
    await at.store.write(({ clickLeases }) => clickLeases.forgetLinks([linkSeq]))
    assert.deepEqual(await journals(), [])
    assert.deepEqual(await useOf(linkSeq), { left: 100, held: 0 })
  })
})
