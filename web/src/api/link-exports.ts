import { noAnswer } from './api-error.ts'
import { filterQuery, type LinkFilter } from './link-filter.ts'
import { requestRaw } from './request.ts'

/** The links that match, the newest first, as CSV with every field. */
export function exportLinks(filter: LinkFilter): Promise<Blob> {
  return read(filter, undefined, (answer) => answer.blob())
}

/** Returns the ids of the links that match, the newest first; those that are made meanwhile may be missing. */
export async function findLinkIds(filter: LinkFilter): Promise<readonly string[]> {
  const text = await read(filter, 'id', (answer) => answer.text())
  const [, ...lines] = text.trimEnd().split('\r\n')
  return lines.map((line) => line.replaceAll('"', ''))
}

async function read<T>(
  filter: LinkFilter,
  fields: string | undefined,
  take: (answer: Response) => Promise<T>,
): Promise<T> {
  const query = { ...filterQuery(filter), sort: undefined, fields }
  const answer = await requestRaw('/links/export', { query })
  try {
    return await take(answer)
  } catch {
    // The connection was cut: what has arrived is not the whole list.
    throw noAnswer()
  }
}
