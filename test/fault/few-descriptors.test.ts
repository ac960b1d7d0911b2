import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const OPEN_FILES = 300
const CONNECTIONS = 400
const VISITS = 20
/** Sets both limits of open files, so that Node.js cannot raise it, and runs a command. */
const LIMITED = ['/bin/sh', '-c', `ulimit -n ${OPEN_FILES}; exec "$@"`, 'sh']

for (const { name, settings } of [
  { name: 'clients', settings: {} },
  { name: 'a trusted proxy', settings: { TERSE_TRUST_PROXY: '127.0.0.1' } },
]) {
  const skip = process.platform === 'linux' ? false : 'needs the limits of Linux'
  describe(`a service with few descriptors and idle connections of ${name}`, { skip }, () => {
    const clients: Socket[] = []
    let place: Place
    let service: ServiceProcess
    let api: Api
    before(async () => {
      place = await SQLITE.createMigratedPlace()
      const token = await makeToken(place.env)
      service = await startProcess(place, settings, { within: LIMITED })
      api = apiClient(`http://127.0.0.1:${service.port}`, token)
    })
    after(async () => {
      for (const client of clients) client.destroy()
      await service?.kill()
      await place.remove()
    })

    test('warns once, and serves others however many connections are idle', async () => {
      const warnings = service.output().stderr.match(/"fewer connections than configured"/g)
      assert.equal(warnings?.length, 1)
      assert.match(
        service.output().stderr,
        /"openFiles":300,"connectionsMax":100,"requested":10000/,
      )
      for (let count = 0; count < CONNECTIONS; count += 1) {
        const client = connect({ host: '127.0.0.1', port: service.port })
        client.on('error', () => {})
        clients.push(client)
        await once(client, 'connect')
      }
      const link = { domain: 'localhost', key: 'few', url: 'https://example.com/' }
      const { body: created } = expectStatus(await api.post('/links', link), 201)
      for (let count = 0; count < VISITS; count += 1) {
        assert.equal((await visit(service.port, '/few')).status, 302)
      }
      await eventually(async () => {
        const { body } = expectStatus(await api.get(`/links/${created.id}`), 200)
        assert.equal(body.clicks, VISITS)
      })
      assert.doesNotMatch(service.output().stderr, /EMFILE/)
    })
  })
}
