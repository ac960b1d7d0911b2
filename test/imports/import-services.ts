import { setTimeout as sleep } from 'node:timers/promises'
import { ConversionImports } from '../../src/conversions/conversion-imports.ts'
import { ConversionSettingsService } from '../../src/conversions/settings.ts'
import { DomainSettingsService } from '../../src/domains/domain-settings.ts'
import type { Import, ImportOptions, ReportRow } from '../../src/imports/import.ts'
import type { ImportSource } from '../../src/imports/import-source.ts'
import type { ImportedClick, ImportedClicks } from '../../src/imports/imported-clicks.ts'
import { Importer } from '../../src/imports/importer.ts'
import type { ImportStores } from '../../src/imports/store/import-store.ts'
import { Labels } from '../../src/links/labels.ts'
import { LinkBatches } from '../../src/links/link-batches.ts'
import { LinkKeyspaces } from '../../src/links/link-keyspaces.ts'
import { RuleSets } from '../../src/links/rule-sets/rule-sets.ts'
import { UtmTemplates } from '../../src/links/utm-templates/utm-templates.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { newImport, unique } from '../storage/samples.ts'
import { linkServices } from '../support/link-services.ts'
import { noQuotas } from '../support/no-quotas.ts'
import type { StoreUnderTest } from '../support/store.ts'

type Overrides = Partial<Omit<Import, 'options'>> & { readonly options?: Partial<ImportOptions> }

function optionsFor(host: string): ImportOptions {
  const domains = { '': host, 'old.example': host }
  return { domains, onConflict: 'skip', timeZone: 'UTC', columns: {} }
}

/** Keeps the clicks in memory, of committed transactions only. */
class ClicksInMemory implements ImportedClicks<ImportStores> {
  readonly spooled: ImportedClick[] = []

  async prepare(_of: unknown, clicks: readonly ImportedClick[]) {
    this.spooled.push(...clicks)
    return { refused: [], parts: [] }
  }

  refusedAmong(): readonly ImportedClick[] {
    return []
  }

  async spool(): Promise<void> {}

  async finish() {
    await sleep(0)
    return { opening: 0, openingLinks: 0 }
  }

  async discard(): Promise<void> {}
}

/**
 * An importer over a real store, and the means to run whole imports.
 *
 * @param onRetry called before the importer tries again
 * @param counting what counts the clicks; `clicks` when left out
 */
export async function importServices(
  at: StoreUnderTest,
  counting?: ImportedClicks<ImportStores>,
  onRetry: () => void = () => {},
) {
  const services = await linkServices(at)
  const { store, writer, actor, clock, serviceHost, domains } = services
  const clicks = new ClicksInMemory()
  const keyspaces = new LinkKeyspaces({ ...services, claimOnLink: true })
  const ruleSets = new RuleSets({ ...services, appSchemes: [], hasCities: false })
  const domainSettings = new DomainSettingsService(services)
  const labels = new Labels(services)
  const conversionSettings = new ConversionSettingsService(services)
  const importer = new Importer({
    store,
    clock,
    batches: new LinkBatches({ writer, clock, keyspaces, serviceHost }),
    domains,
    utmTemplates: new UtmTemplates({ store, clock, random: systemRandom }),
    ...{ ruleSets, domainSettings, labels, conversionSettings },
    conversions: new ConversionImports({ quotas: noQuotas(store) }),
    clicks: counting ?? clicks,
    serviceHost: serviceHost.host,
    onProgress: () => {},
    onRetry,
  })

  // Each test has a workspace and a host of its own.
  const host = `${unique('go')}.example`

  async function add({ options, ...overrides }: Overrides = {}): Promise<Import> {
    const added = newImport(actor.workspaceId, {
      options: { ...optionsFor(host), ...options },
      ...overrides,
    })
    await store.write((stores) => stores.imports.insert(added))
    return added
  }

  const run = (added: Import, source: ImportSource, signal = new AbortController().signal) =>
    importer.run(added, async () => source, { originOf: (name) => name, signal })

  /** Runs a new import of a source to its end. */
  async function importAll(source: ImportSource, overrides: Overrides = {}) {
    const ended = await run(await add(overrides), source)
    return { ended, rows: await store.read.importRows.list(ended.id, 0, 10_000) }
  }

  /** The workspace's links, oldest first, by key. */
  async function linksByKey() {
    const { items } = await store.read.links.run({
      workspaceId: actor.workspaceId,
      limit: 100_000,
      descending: false,
      beyond: undefined,
    })
    return new Map(items.map((link) => [link.key, link]))
  }

  const added = { ruleSets, domainSettings, labels, conversionSettings }
  return { ...services, ...added, host, importer, clicks, add, run, importAll, linksByKey }
}

/** What a report says of each row, in short. */
export function outcomesOf(rows: readonly ReportRow[]): readonly string[] {
  return rows.map(({ old_link, outcome }) => `${old_link} ${outcome}`)
}
