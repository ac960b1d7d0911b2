import type { Domains } from '../../domains/domains.ts'
import type { Import } from '../../imports/import.ts'
import { Importer } from '../../imports/importer.ts'
import { LinkBatches } from '../../links/link-batches.ts'
import { UtmTemplates } from '../../links/utm-templates/utm-templates.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import type { AppContext } from './app-context.ts'
import { openCountriesOf } from './countries.ts'
import { importedClicksInCommand, importedClicksOnNode } from './imported-clicks.ts'
import { openLinkWriter } from './link-writer.ts'

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
  let opened: ReturnType<typeof openCountriesOf> | undefined
  const countries = () => {
    opened ??= openCountriesOf(config)
    return opened
  }
  const { store, clock } = instance
  const { keyspaces, writer } = openLinkWriter(context, domains)
  return new Importer({
    store,
    clock,
    batches: new LinkBatches({ writer, clock, keyspaces, serviceHost }),
    domains,
    utmTemplates: new UtmTemplates({ store, clock, random: systemRandom }),
    clicks: countsClicks
      ? importedClicksInCommand(config, instance, countries, (err) =>
          log.warn({ err }, 'click ingestion failed'),
        )
      : importedClicksOnNode(instance, countries),
    serviceHost: serviceHost.host,
    ...reports,
  })
}
