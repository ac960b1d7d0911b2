import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, apiClient } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { variantOf } from '../support/key-variants.ts'
import { runCli } from '../support/run-cli.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

const ROUNDS = 25

for (const engine of ENGINES) {
  describe(`two processes on the same data, on ${engine.title}`, () => {
    let place: Place
    let processes: ServiceProcess[] = []
    let apis: Api[] = []
    before(async () => {
      place = await engine.createPlace()
      // The same base URL, as behind a balancer, and so the same shared host.
      const settings = { TERSE_BASE_URL: 'http://localhost', TERSE_LOG_LEVEL: 'warn' }
      processes = await Promise.all([startProcess(place, settings), startProcess(place, settings)])
      const token = (
        await runCli(['token', 'create', '--workspace', 'acme'], place.env)
      ).stdout.trim()
      apis = processes.map(({ port }) => apiClient(`http://127.0.0.1:${port}`, token))
    })
    after(async () => {
      for (const process of processes) await process.kill()
      await place.remove()
    })

    const postAll = (bodies: readonly object[]) =>
      Promise.all(
        bodies.map(async (body, index) => {
          const api = apis[index % 2]
          assert.ok(api !== undefined)
          return api.post('/links', { url: 'https://example.com/', ...body })
        }),
      )

    test('answer 201 once and 422 once when both create the same key', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const link = { domain: 'localhost', key: `contested-${round}` }
        const answers = await postAll([link, link])
        const statuses = answers.map(({ status }) => status).sort()
        assert.deepEqual(statuses, [201, 422], JSON.stringify(answers.map(({ body }) => body)))
        const refused = answers.find(({ status }) => status === 422)
        assert.deepEqual(refused?.body.errors, { key: ['is taken on this domain'] })
      }
      const list = await apis[0]?.get('/links?search=contested')
      assert.equal(list?.body.meta.total, ROUNDS)
    })

    test('answer 201 for 16 of 24 keys created at the same time that differ only by letter case', async () => {
      const keys = Array.from({ length: 24 }, (_, index) => variantOf('contested', index))
      const answers = await postAll(keys.map((key) => ({ domain: 'localhost', key })))
      const made = answers.filter(({ status }) => status === 201)
      assert.equal(made.length, 16)
      for (const { status, body } of answers) {
        if (status !== 201) assert.match(String(body.errors?.key), /16 variants/)
      }
      const [first] = made
      assert.equal((await apis[0]?.delete(`/links/${first?.body.id}`))?.status, 200)
      const unused = keys.filter((key) => !made.some(({ body }) => body.key === key))
      const again = await postAll(unused.map((key) => ({ domain: 'localhost', key })))
      assert.equal(again.filter(({ status }) => status === 201).length, 1)
    })

    test('answer 201 twice when both claim the same new host with different keys', async () => {
      for (let round = 0; round < 5; round += 1) {
        const domain = `new-${round}.example`
        const answers = await postAll(['a', 'b', 'c', 'd'].map((key) => ({ domain, key })))
        for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body))
      }
      const list = await apis[1]?.get('/domains')
      assert.equal(list?.body.meta.total, 5)
    })
  })
}
