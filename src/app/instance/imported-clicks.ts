import { setTimeout as sleep } from 'node:timers/promises'
import { countSpool } from '../../clicks/ingest/spool-drain.ts'
import type { Countries } from '../../clicks/record/countries.ts'
import { isCounted } from '../../clicks/spool/spool-reader.ts'
import { openClickWriter } from '../../clicks/store/open-click-writer.ts'
import { SpooledClicks } from '../../imports/spooled-clicks.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import type { Config } from '../config/read-config.ts'
import type { FullStore, Stores } from '../database/stores.ts'
import type { Instance } from './instance.ts'

const POLL_INTERVAL_MS = 500

type Services = Pick<Instance, 'store' | 'clock'>

/** Takes the clicks of imports on a node, whose drain thread counts them. */
export function importedClicksOnNode(
  { store, clock }: Services,
  countries: () => Promise<Countries>,
): SpooledClicks<Stores> {
  return new SpooledClicks({
    store,
    clock,
    random: systemRandom,
    countries,
    async count(spoolId, signal) {
      while (!(await isCounted(store, spoolId))) {
        await sleep(POLL_INTERVAL_MS, undefined, { signal })
      }
    },
  })
}

/** Takes the clicks of imports in a command, which counts them itself: perhaps no node runs. */
export function importedClicksInCommand(
  config: Config,
  { store, clock }: Services,
  countries: () => Promise<Countries>,
  onError: (error: unknown) => void,
): SpooledClicks<Stores> {
  return new SpooledClicks({
    store,
    clock,
    random: systemRandom,
    countries,
    count: (spoolId, signal) => countHere(config, { store, clock }, { spoolId, signal, onError }),
  })
}

async function countHere(
  { databaseUrl, dataDir, clickRetentionDays }: Config,
  { store, clock }: { readonly store: FullStore; readonly clock: Services['clock'] },
  options: {
    readonly spoolId: string
    readonly signal: AbortSignal
    readonly onError: (error: unknown) => void
  },
): Promise<void> {
  const { spoolId, signal, onError } = options
  const journalId = (await store.read.clickSpools.find(spoolId))?.journal_id
  if (!journalId) throw new Error('the click spool is not complete')
  const writer = openClickWriter({
    databaseUrl,
    dataDir,
    rawPerMinute: 0,
    retentionDays: clickRetentionDays,
    onRawRefused: () => {},
    onWithoutLink: () => {},
    onError,
  })
  try {
    const onCounted = () => {}
    do {
      await countSpool({ writer, clock, onCounted }, { id: spoolId, journalId }, signal)
    } while (!(await isCounted(store, spoolId)))
  } finally {
    await writer.close()
  }
}
