import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { after, before, describe, mock, test } from 'node:test'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import { Failure } from '../../src/platform/failure.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { openAt } from '../support/store.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { everyRead, everyWrite } from './every-call.ts'
import { addHome, type Home } from './samples.ts'

const isUnavailable = (error: unknown) => error instanceof Failure && error.code === 'unavailable'

/** A database whose queries all fail on request, and work again. */
type Breakable = { opened: OpenedStore; fail(): void; mend(): void; close(): Promise<void> }

async function openBreakable(place: Place): Promise<Breakable> {
  if (place.databaseUrl === undefined) return breakableSqlite(place)
  const url = new URL(place.databaseUrl)
  const proxy: TcpProxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const opened = await openAt({ ...place, databaseUrl: url.href })
  return { opened, fail: proxy.cut, mend: proxy.mend, close: proxy.close }
}

/** A disk that fails every read and write: the one fault that no test can cause for real. */
async function breakableSqlite(place: Place): Promise<Breakable> {
  const IOERR = 10
  const broken = () => {
    throw Object.assign(new Error('disk I/O error'), { errcode: IOERR })
  }
  return {
    opened: await openAt(place),
    fail() {
      for (const method of ['all', 'run'] as const)
        mock.method(StatementSync.prototype, method, broken)
    },
    mend: () => mock.restoreAll(),
    close: async () => {},
  }
}

/**
 * With SQLite these do not use the connection that fails here: feeds read the files of days with clicks, of which there
 * are none, and a scan has a connection of its own.
 */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...['feed.end', 'feed.since', 'feed.recent'],
  'links.countByHost',
])

for (const engine of ENGINES) {
  describe(`while the database is unavailable, on ${engine.title}`, () => {
    let place: Place
    let breakable: Breakable
    let home: Home
    before(async () => {
      place = await engine.createPlace()
      breakable = await openBreakable(place)
      home = await addHome(breakable.opened.store)
    })
    after(async () => {
      await breakable.opened.store.close()
      await breakable.close()
      await place.remove()
    })

    test('every store method fails as unavailable, and works afterwards', async () => {
      const { store } = breakable.opened
      const reads = Object.entries(everyRead(home))
      const writes = Object.entries(everyWrite(home))
      breakable.fail()
      for (const [name, call] of reads) {
        if (engine.name === 'SQLite' && ELSEWHERE.has(name)) continue
        await assert.rejects(call(store.read), isUnavailable, name)
      }
      for (const [name, call] of writes)
        await assert.rejects(store.write(call), isUnavailable, name)
      assert.equal(store.isAvailable(), engine.name === 'SQLite')
      breakable.mend()
      await eventually(async () => store.read.instance.find('any'))
      assert.ok(store.isAvailable())
      for (const [name, call] of reads) await assert.doesNotReject(call(store.read), name)
    })

    test('the tables of calls contain every method', async () => {
      const named = new Set([...Object.keys(everyRead(home)), ...Object.keys(everyWrite(home))])
      const methods = Object.entries(breakable.opened.store.read).flatMap(([noun, methods]) =>
        Object.keys(methods).map((method) => `${noun}.${method}`),
      )
      assert.deepEqual(
        methods.filter((method) => !named.has(method)),
        [],
      )
    })
  })
}
