import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { apiClient } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { startProcess } from '../support/service-process.ts'
import { openAt } from '../support/store.ts'

const WRITERS = 8
/** Links acknowledged before the kill, so that it happens in the middle of the load. */
const ACKNOWLEDGED_MIN = 40

for (const engine of ENGINES) {
  describe(`a process that is killed while it writes, on ${engine.title}`, () => {
    test('has stored every link that it acknowledged, and no link partially', async () => {
      const place = await engine.createPlace()
      const service = await startProcess(place)
      const token = await makeToken(place.env)
      const api = apiClient(`http://127.0.0.1:${service.port}`, token)
      const acknowledged: string[] = []
      let killed = false
      const writers = Array.from({ length: WRITERS }, async () => {
        while (!killed) {
          const link = { domain: 'localhost', url: 'https://example.com/', tags: ['t'] }
          const answer = await api.post('/links', link).catch(() => undefined)
          if (answer?.status === 201) acknowledged.push(answer.body.id)
        }
      })
      await eventually(async () => assert.ok(acknowledged.length >= ACKNOWLEDGED_MIN))
      const killing = service.kill()
      killed = true
      await Promise.all([killing, ...writers])

      const { store, db } = await openAt(place)
      const links = await db.selectFrom('links').select(['id', 'seq']).execute()
      const ids = new Set(links.map(({ id }) => id))
      assert.deepEqual(
        acknowledged.filter((id) => !ids.has(id)),
        [],
      )
      // Everything that one transaction writes: the link, its tag, its share of the count, and the
      // change.
      const seqs = links.map(({ seq }) => seq).sort((a, b) => a - b)
      const tagged = await db
        .selectFrom('link_tags')
        .select('link_seq')
        .orderBy('link_seq')
        .execute()
      assert.deepEqual(
        tagged.map(({ link_seq }) => link_seq),
        seqs,
      )
      const buckets = await db.selectFrom('link_buckets').select('links').execute()
      assert.equal(
        buckets.reduce((sum, { links }) => sum + links, 0),
        links.length,
      )
      const changes = await db
        .selectFrom('changes')
        .select('id')
        .where('kind', '=', 'link')
        .execute()
      assert.equal(changes.length, links.length)
      await store.close()
      await place.remove()
    })
  })
}
