import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { createLink, type LinkBody } from '../support/links.ts'
import { lockCounters } from '../support/lock-counters.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

for (const engine of ENGINES) {
  describe(`counted_until on ${engine.title}`, () => {
    const clock = fakeClock()
    let service: Service
    let api: Api
    let link: LinkBody
    before(async () => {
      service = await startService(engine, {}, { clock })
      api = await service.api()
      link = await createLink(api, { key: 'clicked' })
    })
    after(() => service.stop())

    /** What each answer with numbers of clicks says. */
    async function countedUntil(): Promise<readonly (string | null)[]> {
      const answers = await Promise.all(
        [
          ...['/links', '/links?cursor=', '/clicks', '/clicks?group_by=country'],
          ...[`/links/${link.id}/clicks`, `/clicks/sparklines?link=${link.id}`],
        ].map(async (address) => expectStatus(await api.get(address), 200).body),
      )
      const ready = await visit(service.port, '/readyz')
      assert.equal(ready.status, 200)
      return [...answers, JSON.parse(ready.body)].map(
        ({ counted_until, meta }) => (meta ?? { counted_until }).counted_until ?? null,
      )
    }

    test('is null while counting keeps up, so that entity tags stay the same', async () => {
      assert.deepEqual(new Set(await countedUntil()), new Set([null]))
      const tag = async () => (await api.get('/links')).headers.get('etag')
      const before = await tag()
      clock.move(1)
      assert.equal(await tag(), before)
    })

    test('is the instant of the oldest click that waits, until it is counted', async () => {
      const unlock = await lockCounters(service.place)
      const instant = new Date(clock.nowMicros() / 1_000).toISOString().replace('Z', '000Z')
      assert.equal((await visit(service.port, '/clicked')).status, 302)
      clock.move(15)
      assert.equal((await visit(service.port, '/clicked')).status, 302)
      await eventually(async () =>
        assert.deepEqual(new Set(await countedUntil()), new Set([instant])),
      )
      assert.equal(expectStatus(await api.get(`/links/${link.id}`), 200).body.clicks, 0)
      await unlock()
      await eventually(async () => assert.deepEqual(new Set(await countedUntil()), new Set([null])))
      assert.equal(expectStatus(await api.get(`/links/${link.id}`), 200).body.clicks, 2)
    })
  })
}
