import type { ClickStore } from '../../src/domain/clicks/click-store.ts'
import type { Nouns, Store } from '../../src/domain/store.ts'

/** The database went away, as a test wanted it to. */
export class WantedFault extends Error {
  override readonly name = 'WantedFault'
}

/**
 * A store in front of a real one that throws at chosen steps. Each step of the work with clicks counts:
 * a read, the begin of a unit, each statement in it (once before it runs and once after), the commit,
 * and the commit's answer, which is lost although the unit is on disk.
 */
export function faultyStore(store: Store, failsAt: (step: number) => boolean) {
  let steps = 0
  function step(): void {
    steps += 1
    if (failsAt(steps)) throw new WantedFault(`step ${steps}`)
  }

  function faultyClicks(clicks: ClickStore): ClickStore {
    return {
      async findPosition(journalId) {
        step()
        return clicks.findPosition(journalId)
      },
      async movePosition(journalId, from, to, atMicros) {
        step()
        const moved = await clicks.movePosition(journalId, from, to, atMicros)
        step()
        return moved
      },
      async insert(rows) {
        step()
        await clicks.insert(rows)
        step()
      },
      countByFlags: (linkSeq) => clicks.countByFlags(linkSeq),
    }
  }
  const faultyNouns = (nouns: Nouns): Nouns => ({ ...nouns, clicks: faultyClicks(nouns.clicks) })

  const faulty: Store = {
    ...store,
    read: faultyNouns(store.read),
    async write(work) {
      step()
      const result = await store.write(async (stores) => {
        const value = await work(faultyNouns(stores))
        step()
        return value
      })
      step()
      return result
    },
  }
  return { store: faulty, steps: () => steps }
}
