import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { journalsRoot } from '../../src/clicks/journal/journal-folder.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'
import { journalFaults } from './small-disk.ts'

/** More than fit on the small disk, one write each. */
const VISITS = 150

for (const engine of ENGINES) {
  describe(`clicks that cannot be written to the journal, on ${engine.name}`, () => {
    for (const { fault, skip } of journalFaults()) {
      test(`are logged as lost, and every visitor gets an answer, when the journal ${fault.name}`, {
        skip,
      }, async (t) => {
        const place = await engine.createPlace()
        const journals = journalsRoot(place.dataDir)
        fault.prepare(journals)
        let service: ServiceProcess | undefined
        t.after(async () => {
          await service?.kill()
          fault.cleanUp(journals)
          await place.remove()
        })
        const token = await makeToken(place.env)
        service = await startProcess(place)
        const { port } = service
        const api = apiClient(`http://127.0.0.1:${port}`, token)
        const link = { domain: 'localhost', key: 'lost', url: 'https://example.com/' }
        const { id } = expectStatus(await api.post('/links', link), 201).body
        const readyz = async () =>
          (await fetch(`http://127.0.0.1:${port}/readyz`)).json() as Promise<{
            status: string
            lost_clicks: number
          }>
        assert.partialDeepStrictEqual(await readyz(), { lost_clicks: 0, doubtful_clicks: 0 })

        fault.cause(journals)
        for (let count = 0; count < VISITS; count += 1) {
          const { status, headers } = await visit(port, '/lost')
          assert.equal(status, 302)
          assert.equal(headers.location, 'https://example.com/')
        }

        const { lost_clicks: lost } = await readyz()
        assert.ok(lost > 0 && lost <= VISITS, `${lost} lost`)
        await eventually(async () => {
          const { body } = expectStatus(await api.get(`/links/${id}`), 200)
          assert.equal(body.clicks + lost, VISITS)
        })
        const reports = service.output().stderr.match(/journal write failed, clicks lost/g) ?? []
        assert.equal(reports.length, 1, 'one line, not one for each click')
      })
    }
  })
}
