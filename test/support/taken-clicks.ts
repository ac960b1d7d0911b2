import type { Click } from '../../src/clicks/click.ts'
import { openWriterAt, takeClicks } from './click-writers.ts'
import type { LinkBody } from './links.ts'
import type { Service } from './service.ts'

/**
 * Ingests clicks of a service that no visitor made; a test gives each a link and any other field.
 */
export async function takeIn(service: Service, clicks: readonly Click[]): Promise<void> {
  const writer = await openWriterAt(service.place)
  try {
    await takeClicks(writer, clicks)
  } finally {
    await writer.close()
  }
}

/** The sequence number of a link, by which clicks refer to it. */
export async function seqOf(service: Service, link: LinkBody): Promise<number> {
  const found = await service.instance.store.read.links.findById(link.workspace_id, link.id)
  if (found === undefined) throw new Error(`there is no link ${link.id}`)
  return found.seq
}
