import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { FullStore } from '../../src/app/database/stores.ts'
import { writeCheck } from '../../src/app/metrics/observation.ts'
import { setReadOnly } from '../support/database-access.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type Service, startService } from '../support/service.ts'
import { describeStore } from '../support/store.ts'
import { visit } from '../support/visit.ts'

describeStore('writeCheck of readiness', (at) => {
  test('leaves no row behind', async () => {
    const rows = () => at.db.selectFrom('instance').selectAll().orderBy('name').execute()
    const before = await rows()
    assert.equal(await writeCheck(at.store, 10_000)(), true)
    assert.deepEqual(await rows(), before)
  })

  test('fails when the write takes longer than the API waits, and runs again later', async () => {
    let hangs = true
    const stuck: Pick<FullStore, 'write'> = {
      write: (work) => (hangs ? new Promise(() => {}) : at.store.write(work)),
    }
    const check = writeCheck({ ...at.store, ...stuck }, 20)
    assert.equal(await check(), false)
    hangs = false
    await eventually(async () => assert.equal(await check(), true))
  })
})

describe('/readyz while PostgreSQL is read-only', () => {
  let service: Service
  before(async () => {
    const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine !== undefined)
    service = await startService(engine)
  })
  after(() => service.stop())

  const isApiReady = async () => (await visit(service.port, '/readyz?role=api')).status === 200

  test('is not ready, and becomes ready when PostgreSQL accepts writes again', async () => {
    await setReadOnly(service.place, true)
    await eventually(async () => assert.ok(!(await isApiReady())))
    await setReadOnly(service.place, false)
    await eventually(async () => assert.ok(await isApiReady()))
  })
})
