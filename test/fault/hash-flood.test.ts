import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { createLink, postLink } from '../support/links.ts'
import { formSetting } from '../support/long-form.ts'
import { runCli } from '../support/run-cli.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

/** Links with a password, created at the same time. */
const HASHES = formSetting('FLOOD_HASHES')
const WORKSPACES = 2
const VISITORS = 4

describe('a flood of passwords to hash', () => {
  test('delays neither visitors nor another workspace until it is over', async (t) => {
    const place = await SQLITE.createMigratedPlace()
    // Each visit waits for a sync of the journal.
    const service = await startProcess(place, { TERSE_CLICK_DURABILITY: 'disk' })
    t.after(async () => {
      await service.stop()
      await place.remove()
    })
    async function clientOf(workspace: string) {
      const token = await runCli(['token', 'create', '--workspace', workspace], place.env)
      return apiClient(`http://127.0.0.1:${service.port}`, token.stdout.trim())
    }
    const bystander = await clientOf('bystander')
    const flooding = await Promise.all(
      Array.from({ length: WORKSPACES }, (_, index) => clientOf(`flood-${index}`)),
    )
    await createLink(bystander, { key: 'visited' })
    assert.equal((await visit(service.port, '/visited')).status, 302)

    const answered = { visits: 0, created: 0, refused: 0, createdBeforeBystander: 0 }
    let isFlooding = true
    async function visitUntilTheEnd(): Promise<void> {
      while (isFlooding) {
        assert.equal((await visit(service.port, '/visited')).status, 302)
        if (isFlooding) answered.visits += 1
      }
    }
    async function flood(index: number): Promise<void> {
      const client = flooding[index % WORKSPACES]
      assert.ok(client !== undefined)
      const { status, headers } = await postLink(client, { password: 'sesame' })
      if (status === 201) answered.created += 1
      else {
        assert.ok(status === 429 || status === 503, `${status}`)
        assert.ok(Number(headers.get('retry-after')) >= 1)
        answered.refused += 1
      }
    }
    const creates = Array.from({ length: HASHES }, (_, index) => flood(index))
    async function createBesideFlood(): Promise<void> {
      const before = answered.created
      const answer = await postLink(bystander, { password: 'sesame' })
      // The running hashes take longer than a request may wait on a busy machine.
      if (answer.status === 503) return createBesideFlood()
      expectStatus(answer, 201)
      answered.createdBeforeBystander = answered.created - before
    }
    const other = createBesideFlood()
    const visitors = Array.from({ length: VISITORS }, visitUntilTheEnd)
    await Promise.all(creates)
    isFlooding = false
    await Promise.all([other, ...visitors])

    t.diagnostic(JSON.stringify(answered))
    const { visits, created, createdBeforeBystander } = answered
    assert.ok(visits > created / 2, `${visits} visits beside ${created} hashes`)
    // The running hashes, one queued by each workspace, and requests in transit.
    assert.ok(createdBeforeBystander <= 10, `${createdBeforeBystander} of ${created}`)
  })
})
