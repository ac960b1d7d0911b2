import { after, before, describe } from 'node:test'
import { openStore } from '../../src/app/database/open-store.ts'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import type { Click } from '../../src/clicks/click.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { type Clock, systemClock } from '../../src/platform/time/clock.ts'
import { openWriterAt, takeClicks } from './click-writers.ts'
import { ENGINES, type Engine, PATIENCE_MS, type Place } from './engines.ts'

/** A store as a process opens it, without a service around it. */
export type StoreUnderTest = OpenedStore & {
  readonly place: Place
  /** Opens the same data again, as another process would. Closed with the first. */
  another(): Promise<OpenedStore>
  /** Stores clicks, as a drain thread does. */
  take(clicks: readonly Click[]): Promise<void>
}

/** Opens a store on an existing or a new database. */
export function openAt(
  place: Pick<Place, 'databaseUrl' | 'clicks' | 'dataDir'>,
  options: { clock?: Clock; timeoutMs?: number; onError?: (error: unknown) => void } = {},
): Promise<OpenedStore> {
  const { clock = systemClock(), timeoutMs = PATIENCE_MS, onError = () => {} } = options
  const { databaseUrl, dataDir, clicks } = place
  return openStore({ databaseUrl, dataDir, clicks, clock, timeoutMs, onError })
}

/** Describes one suite for every engine, with one store that the suite's tests share. */
export function describeStore(
  title: string,
  suite: (at: StoreUnderTest, engine: Engine) => void,
): void {
  for (const engine of ENGINES) {
    describe(`${title} on ${engine.title}`, () => {
      const at = {} as StoreUnderTest
      const opened: OpenedStore[] = []
      let closeWriter = async () => {}
      before(async () => {
        const place = await engine.createMigratedPlace()
        const another = async () => {
          const store = await openAt(place)
          opened.push(store)
          return store
        }
        let writer: ClickWriter | undefined
        const take = async (clicks: readonly Click[]) => {
          writer ??= await openWriterAt(place)
          return takeClicks(writer, clicks)
        }
        closeWriter = async () => writer?.close()
        Object.assign(at, await another(), { place, another, take })
      })
      after(async () => {
        await closeWriter()
        for (const { store } of opened) await store.close()
        await at.place.remove()
      })
      suite(at, engine)
    })
  }
}
