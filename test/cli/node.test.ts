import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import pg from 'pg'
import { journalsRoot, listJournals } from '../../src/clicks/journal/journal-folder.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { closeDatabase, reopenDatabase } from '../support/database-access.ts'
import { createFolder, ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { numberOf } from '../support/prometheus.ts'
import { runCommand } from '../support/run-command.ts'
import { startProcess } from '../support/service-process.ts'
import { openAt } from '../support/store.ts'
import { visit } from '../support/visit.ts'

/** Clicks that never reached the database. */
const LEFT = 20
const BACKLOG_BYTES = 4_321

type Row = { id: string; name: string; process: number; state: string; backlog_bytes: number }

async function listNodes(place: Place): Promise<Row[]> {
  const { stdout } = await runCommand(['node', 'list', '--json'], place.env)
  return JSON.parse(stdout)
}

/** Backdates every heartbeat, so that the database has heard from no node for a while. */
async function passTime(place: Place): Promise<void> {
  const { store, db } = await openAt(place)
  await db
    .updateTable('nodes')
    .set((eb) => ({
      beat_at: eb('beat_at', '-', 100 * 1_000_000),
      backlog_bytes: BACKLOG_BYTES,
    }))
    .execute()
  await store.close()
}

/** Throws while some change is too recent to be read: earlier transactions may still commit. */
async function whenReadable(place: Place): Promise<number> {
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  const { rows } = await client.query(`select count(*)::int as waiting from changes
    where transaction_id >= pg_snapshot_xmin(pg_current_snapshot())`)
  await client.end()
  assert.equal(rows[0].waiting, 0)
  return performance.now()
}

for (const engine of ENGINES) {
  describe(`terse node on ${engine.title}`, () => {
    test('lists each process while it serves, and none that has stopped properly', async (t) => {
      const place = await engine.createPlace()
      t.after(() => place.remove())
      const service = await startProcess(place, { TERSE_PROCESSES: '2' })
      const nodes = await eventually(async () => {
        const nodes = await listNodes(place)
        assert.equal(nodes.length, 2)
        return nodes
      })
      assert.deepEqual(
        nodes.map(({ process, state }) => [process, state]),
        [
          [1, 'up'],
          [2, 'up'],
        ],
      )
      assert.deepEqual(nodes.map(({ id }) => id).sort(), listJournals(journalsRoot(place.dataDir)))
      const table = await runCommand(['node', 'list'], place.env)
      assert.match(table.stdout, /^NAME +PROCESS +STATE/)
      const forget = await runCommand(['node', 'forget', nodes[0]?.id ?? ''], place.env)
      assert.equal(forget.code, 4)
      assert.match(forget.stderr, /^terse: A lost node .* not found/)
      assert.equal(await service.stop(), 0)
      assert.deepEqual(await listNodes(place), [])
    })
  })
}

describe('a node that is lost for good', () => {
  for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
    test('is listed by the others with its backlog, until its journal is replayed', async (t) => {
      const made = await engine.createPlace()
      const at = (dataDir: string): Place => {
        const env = { ...made.env, TERSE_DATA_DIR: dataDir, TERSE_SECRET_KEY: 'ab'.repeat(32) }
        return { ...made, dataDir, env }
      }
      const place = at(made.dataDir)
      const other = at(createFolder())
      const token = await makeToken(place.env)
      const gone = await startProcess(place)
      t.after(async () => {
        await gone.kill()
        rmSync(other.dataDir, { recursive: true })
        await made.remove()
      })
      const api = apiClient(`http://127.0.0.1:${gone.port}`, token)
      const input = { domain: 'localhost', key: 'left', url: 'https://example.com/' }
      const { id } = expectStatus(await api.post('/links', input), 201).body
      // Once it has read the link's creation in the change log, its cached link stays valid.
      const readableAtMs = await eventually(() => whenReadable(place))
      await eventually(async () => {
        const { body } = await visit(gone.port, '/metrics')
        const lagMs = (numberOf(body, 'terse_change_log_lag_seconds') ?? 0) * 1_000
        assert.ok(lagMs < performance.now() - readableAtMs)
      })
      assert.equal((await visit(gone.port, '/left')).status, 302)
      const counted = async (port: number) => {
        const api = apiClient(`http://127.0.0.1:${port}`, token)
        return expectStatus(await api.get(`/links/${id}`), 200).body.clicks
      }
      await eventually(async () => assert.equal(await counted(gone.port), 1))
      await closeDatabase(place)
      for (let count = 0; count < LEFT; count += 1) {
        assert.equal((await visit(gone.port, '/left')).status, 302)
      }
      await gone.kill()
      await reopenDatabase(place)
      const [node] = await eventually(() => listNodes(place))
      assert.equal(node?.state, 'up', 'its heartbeat is recent')
      await passTime(place)

      const there = await startProcess(other)
      t.after(() => there.kill())
      await eventually(async () => assert.equal((await listNodes(place)).length, 2))
      const states = (await listNodes(place)).map(({ id, state }) => [id === node?.id, state])
      assert.deepEqual(states.sort(), [
        [false, 'up'],
        [true, 'lost'],
      ])
      await eventually(async () => {
        const { body } = await visit(there.port, '/metrics')
        assert.equal(numberOf(body, 'terse_nodes', { state: 'lost' }), 1)
        assert.equal(numberOf(body, 'terse_lost_nodes_backlog_bytes'), BACKLOG_BYTES)
      })
      const doctor = await runCommand(['doctor'], other.env)
      assert.equal(doctor.code, 1)
      assert.match(
        doctor.stdout,
        /^problem +nodes +1 running, 1 lost with 4321 bytes.*\n.*npx terse journal replay <.*npx terse node forget <id>$/m,
      )

      assert.equal(await counted(there.port), 1)
      for (const clicks of [LEFT, 0]) {
        const replayed = await runCommand(['journal', 'replay', place.dataDir, '--json'], other.env)
        assert.equal(JSON.parse(replayed.stdout)[0].clicks, clicks)
        assert.equal(await counted(there.port), 1 + LEFT)
      }
      assert.deepEqual(
        (await listNodes(place)).map(({ state }) => state),
        ['up'],
      )
    })
  }
})
