import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink } from '../support/links.ts'
import { type Service, startService } from '../support/service.ts'

/** The time in which a busy machine starts a process. */
const ENDED_WITHIN_MS = 60_000

describe('POST /imports/revive', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api()
  })
  after(() => service.stop())

  async function ended(id: string) {
    let shown: Record<string, unknown> = {}
    await eventually(async () => {
      shown = expectStatus(await api.get(`/imports/${id}`), 200).body
      assert.equal(shown.status, 'succeeded', String(shown.fault))
    }, ENDED_WITHIN_MS)
    return shown as { readonly dry_run: boolean; readonly counts: { readonly updated: number } }
  }

  test('reports what it would carry over, and then does it once', async () => {
    const { store } = service.instance
    const link = await createLink(api, { key: 'moved' })
    const found = await store.read.links.findById(link.workspace_id, link.id)
    const rest = JSON.stringify({ geo: { DE: 'https://example.com/de' }, other: 1 })
    await store.write(({ importRows }) =>
      importRows.link([
        {
          ...{ workspace_id: link.workspace_id, link_seq: found?.seq ?? 0, import_id: link.id },
          ...{ origin: 'dub-api', keyspace_id: found?.keyspace_id ?? 0, ref: 'link_1', rest },
        },
      ]),
    )
    const rules = async () => expectStatus(await api.get(`/links/${link.id}/rules`), 200).body.rules

    const answer = expectStatus(await api.post('/imports/revive', { dry_run: true }), 201)
    const { id, source, needs_file: needsFile } = answer.body
    assert.deepEqual([source, needsFile], ['revive', false])
    assert.equal(answer.headers.get('location'), `/api/v1/imports/${id}`)
    assert.equal((await ended(id)).counts.updated, 1)
    assert.deepEqual(await rules(), [])
    const { body: report } = await api.get(`/imports/${id}/report`)
    assert.match(String(report), /"updated",.*Carried over: 1 rule\./)

    expectStatus(await api.post(`/imports/${id}/start`, {}), 200)
    await eventually(async () => assert.equal((await rules()).length, 1), ENDED_WITHIN_MS)
    assert.deepEqual((await rules())[0].when, { country: ['DE'] })
    assert.equal((await ended(id)).dry_run, false)
    const origin = expectStatus(await api.get(`/links/${link.id}/origin`), 200).body
    assert.deepEqual(origin.rest, { other: 1 })
  })

  test('refuses what it does not know', async () => {
    const refused = expectStatus(await api.post('/imports/revive', { links: 'all' }), 422)
    assert.match(JSON.stringify(refused.body), /"links"/)
  })
})
