import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { journalsRoot } from '../../src/clicks/journal/journal-folder.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { startProcess } from '../support/service-process.ts'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'
import { visit } from '../support/visit.ts'
import { fillDisk, SMALL_DISKS } from './small-disk.ts'

/** More than fit on the small disks, one write each. */
const VISITS = 150

const skip = skipWithoutMount()

type Readiness = { status: string; lost_clicks: number; journal_fault: string | null }

for (const engine of ENGINES) {
  describe(`clicks that cannot be written to the journal, on ${engine.title}`, { skip }, () => {
    /** Creates a place whose journals are on a disk of their own. */
    async function placeWithDisk(t: TestContext, options: string) {
      const place = await engine.createMigratedPlace()
      const journals = journalsRoot(place.dataDir)
      mountTmpfs(journals, options)
      const token = await makeToken(place.env)
      const cleanUp: (() => Promise<unknown>)[] = []
      t.after(async () => {
        for (const end of cleanUp) await end()
        unmount(journals)
        await place.remove()
      })
      return { place, journals, token, cleanUp }
    }

    async function startServing(place: Place, token: string, key = 'lost') {
      const service = await startProcess(place)
      const api = apiClient(`http://127.0.0.1:${service.port}`, token)
      const link = { domain: 'localhost', key, url: 'https://example.com/' }
      const { id } = expectStatus(await api.post('/links', link), 201).body
      return {
        service,
        async readiness(): Promise<Readiness> {
          const response = await fetch(`http://127.0.0.1:${service.port}/readyz`)
          return (await response.json()) as Readiness
        },
        async visitOften(): Promise<void> {
          for (let count = 0; count < VISITS; count += 1) {
            const { status, headers } = await visit(service.port, `/${key}`)
            assert.equal(status, 302)
            assert.equal(headers.location, 'https://example.com/')
          }
        },
        async clicks(): Promise<number> {
          return expectStatus(await api.get(`/links/${id}`), 200).body.clicks
        },
        linesOf: (message: string) =>
          service
            .output()
            .stderr.split('\n')
            .filter((line) => line.includes(`"msg":"${message}"`)),
      }
    }

    for (const { name, options } of SMALL_DISKS) {
      test(`are logged as lost, and every visitor gets an answer, when the journal ${name}`, async (t) => {
        const { place, token, cleanUp } = await placeWithDisk(t, options)
        const serving = await startServing(place, token)
        cleanUp.push(() => serving.service.kill())
        assert.partialDeepStrictEqual(await serving.readiness(), {
          lost_clicks: 0,
          doubtful_clicks: 0,
        })
        await serving.visitOften()
        const { lost_clicks: lost, status, journal_fault: fault } = await serving.readiness()
        assert.ok(lost > 0 && lost <= VISITS, `${lost} lost`)
        assert.equal(status, 'degraded')
        assert.match(fault ?? '', /The disk of the folder \S+journal is full/)
        await eventually(async () => assert.equal((await serving.clicks()) + lost, VISITS))
        assert.equal(serving.linesOf('journal write failed, clicks lost').length, 1)
      })
    }

    test('are stored as soon as there is room, after a start on a full disk', async (t) => {
      const { place, journals, token, cleanUp } = await placeWithDisk(t, 'size=64k')
      const older = path.join(journals, '0cd2a7ff-6f9d-4d3a-8d9c-0d4d5a0f8b10.7.beginning')
      mkdirSync(older)
      writeFileSync(path.join(older, 'lock'), '')
      const ballast = path.join(journals, 'ballast')
      fillDisk(ballast)
      const serving = await startServing(place, token)
      cleanUp.push(() => serving.service.kill())
      const full = await serving.readiness()
      assert.equal(full.status, 'degraded')
      assert.match(
        full.journal_fault ?? '',
        /The disk of the folder \S+journal is full.*Clicks are lost/,
      )
      await serving.visitOften()
      assert.equal((await serving.readiness()).lost_clicks, VISITS)
      const namesLeft = readdirSync(journals).filter((name) => name !== 'ballast')
      assert.deepEqual(namesLeft, [], 'nothing of the attempts, nor of older runs')

      rmSync(ballast)
      await eventually(async () => {
        const { status, journal_fault } = await serving.readiness()
        assert.deepEqual([status, journal_fault], ['ok', null], 'without a visit')
      })
      await serving.visitOften()
      await eventually(async () => assert.equal(await serving.clicks(), VISITS))
      assert.equal((await serving.readiness()).lost_clicks, VISITS)
      assert.equal(serving.linesOf('journal write failed, clicks lost').length, 1)
      const [end, ...more] = serving
        .linesOf('journal written again')
        .map((line) => JSON.parse(line))
      assert.partialDeepStrictEqual(end, { kind: 'full', count: VISITS })
      assert.deepEqual(more, [])

      await serving.service.stop()
      const again = await startServing(place, token, 'again')
      cleanUp.push(() => again.service.kill())
      assert.equal((await again.readiness()).lost_clicks, VISITS, 'also after a restart')
    })
  })
}
