import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { type Instance, openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { type HttpsCaches, openCaches } from '../../src/app/node/caches.ts'
import { WarmStartFile } from '../../src/app/node/warm-start-file.ts'
import { encodeEntry } from '../../src/redirects/prepared-link.ts'
import type { KeptKind } from '../../src/storage/coherent-cache.ts'
import { preparedLink } from '../redirect/prepared-links.ts'
import { type Place, SQLITE } from '../support/engines.ts'

const LINK = encodeEntry(preparedLink())

describe('openCaches with a warm start', () => {
  let location: Place
  let instance: Instance
  before(async () => {
    location = await SQLITE.createMigratedPlace()
    instance = await openInstance(readConfig(location.env), pino({ level: 'silent' }))
  })
  after(async () => {
    await instance.close()
    await location.remove()
  })

  const openCopy = () =>
    WarmStartFile.open({ dataDir: location.dataDir, databaseUrl: 'postgres://db/a' })

  async function saveAndClose(copy: WarmStartFile): Promise<void> {
    const cursor = await instance.store.read.changes.end()
    const readAtMicros = instance.clock.nowMicros()
    while (copy.save({ cursor, readAtMicros, serviceHost: 'go.example', serviceKeyspaceId: 1 }));
    copy.close()
  }

  /** Starts and stops with a warm start of these entries; returns how many of each kind the next start finds. */
  async function startOver(link: string, https: HttpsCaches | undefined) {
    const earlier = openCopy()
    earlier.clear()
    earlier.values('link').keep('1/a', () => link)
    earlier.values('host').keep('a.example', () => '{}')
    earlier.values('certificate').keep('a.example', () => 'sealed')
    await saveAndClose(earlier)
    const copy = openCopy()
    const warnings: string[] = []
    const log = pino({}, { write: (line) => warnings.push(JSON.parse(line).msg) })
    const caches = openCaches(readConfig(location.env), instance, log, { warmStart: copy, https })
    await caches.start()
    await caches.follower.stop()
    await saveAndClose(copy)
    const next = openCopy()
    const count = (kind: KeptKind) => [...next.values(kind).entries()].length
    const counts = [count('link'), count('host'), count('certificate')]
    next.close()
    return { counts, warnings }
  }

  test('removes certificates from the warm start when HTTPS is off, because nothing follows their changes', async () => {
    const https = { listeners: [], restore() {} }
    assert.deepEqual(await startOver(LINK, https), { counts: [1, 1, 1], warnings: [] })
    assert.deepEqual(await startOver(LINK, undefined), { counts: [1, 1, 0], warnings: [] })
  })

  test('clears a warm start that cannot be read', async () => {
    let forgotten = 0
    const listener = { apply() {}, forgetAll: () => (forgotten += 1), forgetAbsences() {} }
    const https = { listeners: [listener], restore() {} }
    const { counts, warnings } = await startOver('damaged', https)
    assert.deepEqual(counts, [0, 0, 0])
    assert.equal(forgotten, 1)
    assert.match(warnings.join(), /warm start failed/)
  })
})
