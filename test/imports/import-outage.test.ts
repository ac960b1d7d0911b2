import assert from 'node:assert/strict'
import { appendFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import { countWithoutRows, spooledClicks } from '../clicks/click-import.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { random } from '../support/random.ts'
import { openAt } from '../support/store.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'
import { FakeSource, linkRecord } from './fake-source.ts'
import { importServices } from './import-services.ts'

/** Links of two batches. */
const LINKS = 400
const CLICKS = 3
const records = Array.from({ length: LINKS }, (_, nth) =>
  linkRecord({ key: `k${nth}`, clicks: CLICKS }),
)

type Fault = {
  readonly name: string
  readonly skip: string | false
  /** Opens a store whose database fails once, some time after `arm` was called. */
  open(place: Place): Promise<{
    readonly opened: OpenedStore
    arm(): void
    mend(): void
    close(): Promise<void>
  }>
}

const FULL_DISK: Fault = {
  name: 'whose disk becomes full',
  skip: skipWithoutMount(),
  async open({ dataDir }) {
    mountTmpfs(dataDir, 'size=30m,mode=700')
    const ballast = path.join(dataDir, 'ballast')
    return {
      opened: await openAt({ databaseUrl: undefined, dataDir }),
      arm: () => fillUp(ballast),
      mend: () => rmSync(ballast),
      close: async () => unmount(dataDir),
    }
  },
}

const CUT_OFF: Fault = {
  name: 'whose server goes down',
  skip: false,
  async open({ dataDir, databaseUrl = '' }) {
    const url = new URL(databaseUrl)
    const proxy: TcpProxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    url.port = String(proxy.port)
    return {
      opened: await openAt({ dataDir, databaseUrl: url.href }),
      arm() {
        // In the middle of a transaction, or with its commit on the way.
        let left = 1 + Math.floor(random() * 11)
        proxy.onRoundTrip(() => {
          left -= 1
          if (left === 0) proxy.cut()
        })
      },
      mend: proxy.mend,
      close: proxy.close,
    }
  },
}

function fillUp(file: string): void {
  const page = Buffer.alloc(4096)
  try {
    for (;;) appendFileSync(file, page)
  } catch (error) {
    assert.equal(Object(error).code, 'ENOSPC')
  }
}

for (const [nth, fault] of [FULL_DISK, CUT_OFF].entries()) {
  describe(`an import into a database ${fault.name}`, { skip: fault.skip }, () => {
    let place: Place
    let broken: Awaited<ReturnType<Fault['open']>>
    before(async () => {
      const engine = ENGINES[nth]
      assert.ok(engine)
      place = await engine.createPlace()
      broken = await fault.open(place)
    })
    after(async () => {
      await broken.opened.store.close()
      await broken.close()
      await place.remove()
    })

    test('waits, and then has the same result as without the fault', async () => {
      const { opened, arm, mend } = broken
      const { store } = opened
      const counting = spooledClicks(store, place, (id) => countWithoutRows(store, place, id))
      let retries = 0
      const at = { ...opened, place, another: async () => opened, take: async () => {} }
      const services = await importServices(at, counting, () => {
        if (retries === 0) mend()
        retries += 1
      })
      const { ended, rows } = await services.importAll(
        new FakeSource(records, [], (index) => index === LINKS / 2 && arm()),
      )
      assert.ok(retries > 0)
      assert.equal(ended.status, 'succeeded')
      const { created, clicks_opening, skipped } = ended.counts
      assert.deepEqual([created, skipped, clicks_opening], [LINKS, 0, LINKS * CLICKS])
      assert.equal(new Set(rows.map(({ link }) => link)).size, LINKS)
      const links = await services.linksByKey()
      assert.equal(links.size, LINKS)
      assert.ok([...links.values()].every(({ clicks }) => clicks === CLICKS))
      const { items } = await store.read.events.run({
        workspaceId: services.actor.workspaceId,
        limit: LINKS * 2,
        beyond: undefined,
      })
      const types = Map.groupBy(items, ({ type }) => type)
      assert.equal(types.get('link.created')?.length, LINKS)
      assert.equal(types.get('import.started')?.length, 1)
      assert.equal(types.get('import.completed')?.length, 1)
    })
  })
}
