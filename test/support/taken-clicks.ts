import type { Click } from '../../src/clicks/click.ts'
import { openWriterAt, takeClicks } from './click-writers.ts'
import type { LinkBody } from './links.ts'
import type { Service } from './service.ts'

/** Clicks of a service that no visitor made: each known by its link and whatever a test says of it. */
export async function takeIn(service: Service, clicks: readonly Click[]): Promise<void> {
  const writer = openWriterAt(service.place)
  try {
    await takeClicks(writer, clicks)
  } finally {
    await writer.close()
  }
}

/** The number under which clicks know a link. */
export async function seqOf(service: Service, link: LinkBody): Promise<number> {
  const found = await service.instance.store.read.links.findById(link.workspace_id, link.id)
  if (found === undefined) throw new Error(`there is no link ${link.id}`)
  return found.seq
}
