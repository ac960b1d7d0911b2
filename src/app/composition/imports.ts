import { setTimeout as sleep } from 'node:timers/promises'
import { countSpool } from '../../clicks/ingest/spool-drain.ts'
import type { Places } from '../../clicks/record/places.ts'
import { isCounted } from '../../clicks/spool/spool-reader.ts'
import { openClickWriter } from '../../clicks/store/open-click-writer.ts'
import { ConversionImports } from '../../conversions/conversion-imports.ts'
import { ConversionSettingsService } from '../../conversions/settings.ts'
import { DomainSettingsService } from '../../domains/domain-settings.ts'
import type { Domains } from '../../domains/domains.ts'
import type { Import } from '../../imports/import.ts'
import { Importer } from '../../imports/importer.ts'
import { SpooledClicks } from '../../imports/spooled-clicks.ts'
import { Labels } from '../../links/labels.ts'
import { LinkBatches } from '../../links/link-batches.ts'
import { UtmTemplates } from '../../links/utm-templates/utm-templates.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import type { Config } from '../config/config.ts'
import type { FullStore, Stores } from '../database/stores.ts'
import { type AppContext, type Instance, openPlacesOf } from './instance.ts'
import { openLinkWriter } from './services.ts'

type ImportContext = Pick<AppContext, 'config' | 'instance' | 'serviceHost' | 'hasher' | 'log'>

/** Opens what runs imports. It loads the code of links and clicks: only processes that import need it. */
export function openImporter(
  context: ImportContext,
  domains: Domains,
  on: {
    /** Whether the process counts the clicks; else a node does, which runs. */
    readonly countsClicks: boolean
    readonly onProgress: (of: Import) => void
    readonly onRetry: (error: Error, delayMs: number) => void
  },
): Importer {
  const { config, instance, serviceHost, log } = context
  const { countsClicks, ...reports } = on
  let opened: ReturnType<typeof openPlacesOf> | undefined
  const places = () => {
    opened ??= openPlacesOf(config)
    return opened
  }
  const { store, clock } = instance
  const { keyspaces, writer, ruleSets } = openLinkWriter(context, domains)
  const base = { store, clock, random: systemRandom }
  return new Importer({
    store,
    clock,
    batches: new LinkBatches({ writer, clock, keyspaces, serviceHost }),
    domains,
    utmTemplates: new UtmTemplates(base),
    ruleSets,
    domainSettings: new DomainSettingsService({ ...base, serviceHost }),
    labels: new Labels(base),
    conversionSettings: new ConversionSettingsService(base),
    conversions: new ConversionImports(instance),
    clicks: countsClicks
      ? importedClicksInCommand(config, instance, places, (err) =>
          log.warn({ err }, 'click ingestion failed'),
        )
      : importedClicksOnNode(instance, places),
    serviceHost: serviceHost.host,
    ...reports,
  })
}

const POLL_INTERVAL_MS = 500

type Services = Pick<Instance, 'store' | 'clock'>

/** Takes the clicks of imports on a node, whose drain thread counts them. */
export function importedClicksOnNode(
  { store, clock }: Services,
  places: () => Promise<Places>,
): SpooledClicks<Stores> {
  return new SpooledClicks({
    store,
    clock,
    random: systemRandom,
    places,
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
  places: () => Promise<Places>,
  onError: (error: unknown) => void,
): SpooledClicks<Stores> {
  return new SpooledClicks({
    store,
    clock,
    random: systemRandom,
    places,
    count: (spoolId, signal) => countHere(config, { store, clock }, { spoolId, signal, onError }),
  })
}

async function countHere(
  { databaseUrl, clicks, dataDir, clickRetentionDays }: Config,
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
  const writer = await openClickWriter({
    databaseUrl,
    clicks,
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
