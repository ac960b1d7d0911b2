import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'
import { visit } from '../support/visit.ts'

/** A fiftieth of it, 1 MiB, becomes the reserve. */
const DISK = 'size=50m,mode=700'
const RESERVE_BYTES = 1024 * 1024
const VISITS = 50

type Readiness = {
  status?: string
  message?: string
  roles: Record<string, string>
  lost_clicks: number
  data_folder_fault: string | null
}

const skip = skipWithoutMount()

for (const engine of ENGINES) {
  describe(`a service with a full disk, on ${engine.title}`, { skip }, () => {
    let place: Place
    let service: ServiceProcess
    let api: Api
    let linkId: string
    let importId: string
    let visits = 0
    before(async () => {
      place = await engine.createMigratedPlace()
      mountTmpfs(place.dataDir, DISK)
      const token = await makeToken(place.env)
      service = await startProcess(place)
      api = apiClient(`http://127.0.0.1:${service.port}`, token)
      linkId = expectStatus(await createLink('full'), 201).body.id
      importId = expectStatus(await api.post('/imports', { source: 'csv' }), 201).body.id
      await eventually(async () => assert.equal(reserveBytes(), RESERVE_BYTES))
    })
    after(async () => {
      await service?.kill()
      unmount(place.dataDir)
      await place.remove()
    })

    const createLink = (key: string) =>
      api.post('/links', { domain: 'localhost', key, url: 'https://example.com/' })

    async function readiness(query = ''): Promise<{ status: number; body: Readiness }> {
      const response = await fetch(`http://127.0.0.1:${service.port}/readyz${query}`)
      return { status: response.status, body: (await response.json()) as Readiness }
    }

    function reserveBytes(): number | undefined {
      return statSync(path.join(place.dataDir, 'reserve'), { throwIfNoEntry: false })?.size
    }

    /** Writes a file until the disk is full. */
    function fillDisk(name: string): void {
      const fd = openSync(path.join(place.dataDir, name), 'a')
      const chunk = Buffer.alloc(4096, 1)
      try {
        for (;;) writeSync(fd, chunk)
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'ENOSPC')
      } finally {
        closeSync(fd)
      }
    }

    async function visitLink(): Promise<void> {
      for (let count = 0; count < VISITS; count += 1) {
        const { status, headers } = await visit(service.port, '/full')
        assert.equal(status, 302)
        assert.equal(headers.location, 'https://example.com/')
      }
      visits += VISITS
    }

    const named = () => `The disk of the folder ${place.dataDir} is full.`

    test('uses its reserve for clicks, loses none of them, and names the folder', async () => {
      fillDisk('ballast')
      await visitLink()
      await eventually(async () => {
        const { status, body } = await readiness()
        assert.equal(status, 200, 'visitors are redirected all the same')
        assert.equal(body.status, 'degraded')
        assert.ok(body.data_folder_fault?.startsWith(named()), String(body.data_folder_fault))
        assert.equal(body.lost_clicks, 0)
      })
      assert.equal(reserveBytes(), 0)
      const logged = /"folder":"[^"]+","fault":"full".*"data folder not writable"/
      assert.match(service.output().stderr, logged)
      await eventually(async () => assert.match(service.output().stderr, /"disk almost full"/))
    })

    test('refuses the file of an import, and keeps nothing of it', async () => {
      const file = `/imports/${importId}/file?offset=0`
      const headers = { 'content-type': 'application/octet-stream' }
      const { body } = expectStatus(await api.send('PUT', file, { headers, body: 'key,url' }), 503)
      assert.equal(body.code, 'unavailable')
      assert.match(body.message, /no room for this file/)
      const folder = path.join(place.dataDir, 'imports')
      assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], [])
    })

    if (engine.name === 'SQLite') {
      test('answers writes with 503, answers reads, and reports that the API is not ready', async () => {
        const { body } = expectStatus(await createLink('refused'), 503)
        assert.equal(body.code, 'unavailable')
        assert.ok(body.message.startsWith(named()), body.message)
        expectStatus(await api.get(`/links/${linkId}`), 200)
        const ready = await readiness('?role=api')
        assert.equal(ready.status, 503)
        assert.ok(ready.body.message?.startsWith(named()))
        assert.equal(ready.body.roles.api, 'unavailable')
        assert.equal(ready.body.roles.redirect, 'ok')
      })
    } else {
      test('stores links, which need no local disk', async () => {
        expectStatus(await createLink('stored'), 201)
        const { status, body } = await readiness('?role=api')
        assert.equal(status, 200)
        assert.equal(body.roles.api, 'ok')
      })
    }

    test('redirects when the reserve is used up too, and counts the lost clicks', async () => {
      fillDisk('more-ballast')
      // The last page of the journal still has room for some clicks.
      await eventually(async () => {
        await visitLink()
        assert.ok((await readiness()).body.lost_clicks > 0)
      })
      assert.match(service.output().stderr, /"folder":"[^"]+".*journal write failed, clicks lost/)
      assert.doesNotMatch(service.output().stderr, /"level":50.*"stack"|click ingestion failed/)
    })

    test('stores clicks again once there is room, with a new reserve and every journalled click', async () => {
      rmSync(path.join(place.dataDir, 'ballast'))
      rmSync(path.join(place.dataDir, 'more-ballast'))
      await eventually(async () => assert.equal(reserveBytes(), RESERVE_BYTES))
      await eventually(async () => {
        assert.equal((await readiness('?role=api')).body.data_folder_fault, null)
      })
      expectStatus(await createLink('again'), 201)
      const { lost_clicks: lost } = (await readiness()).body
      assert.ok(lost < visits)
      await eventually(async () => {
        const { body } = expectStatus(await api.get(`/links/${linkId}`), 200)
        assert.equal(body.clicks, visits - lost)
      })
      assert.match(service.output().stderr, /"data folder writable again"/)
    })

    test('starts on a disk that has become full, and redirects', async () => {
      const { lost_clicks: lostBefore } = (await readiness()).body
      assert.equal(await service.stop(), 0)
      fillDisk('ballast')
      service = await startProcess(place)
      await visitLink()
      await eventually(async () => {
        const { body } = await readiness()
        assert.ok(body.data_folder_fault?.startsWith(named()), String(body.data_folder_fault))
        assert.equal(body.lost_clicks, lostBefore)
      })
    })
  })
}
