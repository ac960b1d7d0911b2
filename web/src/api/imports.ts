import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { originalText } from '@terse/contract/csv'
import type {
  CreateImportInput,
  ImportColumn,
  ImportPageResource,
  ImportResource,
  StartImportInput,
} from '@terse/contract/imports'
import { ApiError } from './api-error.ts'
import { request, requestRaw } from './request.ts'

export type { CreateImportInput, ImportColumn, ImportResource, StartImportInput }

const POLL_MS = 1_000
const RETRY_MS = 1_000
/** The most characters of the report that are read for the rows that are shown. */
const REPORT_CHARACTERS_MAX = 4_000_000

export const IMPORTS_KEY = ['imports'] as const

export const importsQuery = infiniteQueryOptions({
  queryKey: [...IMPORTS_KEY, 'list'],
  queryFn: ({ pageParam, signal }) =>
    request<ImportPageResource>('GET', '/imports', {
      query: { per_page: 20, cursor: pageParam },
      signal,
    }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.meta.next_cursor ?? undefined,
})

/** Loaded again every second while the import runs. */
export function importQuery(id: string) {
  return queryOptions({
    queryKey: [...IMPORTS_KEY, id],
    queryFn: ({ signal }) => request<ImportResource>('GET', `/imports/${id}`, { signal }),
    refetchInterval: ({ state }) => (state.data && isRunning(state.data) ? POLL_MS : false),
  })
}

/** The columns of a CSV file, of which `file_bytes` have arrived. */
export function importColumnsQuery({ id, file_bytes: bytes }: ImportResource) {
  return queryOptions({
    queryKey: [...IMPORTS_KEY, id, 'columns', bytes],
    queryFn: async ({ signal }) => {
      const answer = await request<{ data: readonly ImportColumn[] }>(
        'GET',
        `/imports/${id}/columns`,
        { signal },
      )
      return answer.data
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function isRunning({ status }: ImportResource): boolean {
  return status === 'queued' || status === 'reading'
}

/** The beginning of an import's report, as CSV. */
export function importReportQuery({ id, ended_at: endedAt }: ImportResource) {
  return queryOptions({
    queryKey: [...IMPORTS_KEY, id, 'report', endedAt],
    queryFn: async ({ signal }) =>
      beginningOf(await requestRaw(`/imports/${id}/report`, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (text.length < REPORT_CHARACTERS_MAX) {
    const { done, value } = await reader.read()
    if (done) return text
    text += value
  }
  await reader.cancel()
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

export async function downloadReport(id: string): Promise<Blob> {
  return (await requestRaw(`/imports/${id}/report`)).blob()
}

export function createImport(input: CreateImportInput): Promise<ImportResource> {
  return request('POST', '/imports', { body: input })
}

/** @param onSent called with the bytes that have arrived */
export function sendImportFile(
  id: string,
  file: Blob,
  onSent: (bytes: number) => void,
): Promise<void> {
  return sendParts(file, {
    send: (offset, bytes) =>
      request('PUT', `/imports/${id}/file`, { query: { offset }, bytes, isBackground: true }),
    onSent,
    isTemporary: (error) => error instanceof ApiError && error.isTemporary,
    wait: (attempt) => new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** attempt)),
  })
}

export function startImport(id: string, input: StartImportInput): Promise<ImportResource> {
  return request('POST', `/imports/${id}/start`, { body: input })
}

/** The `source` of what carries over what earlier imports kept beside their links. */
export const REVIVAL = 'revive'

export function tryRevival(): Promise<ImportResource> {
  return request('POST', '/imports/revive', { body: { dry_run: true } })
}

export function cancelImport(id: string): Promise<unknown> {
  return request('DELETE', `/imports/${id}`)
}

/** What a request with a part may hold, with room below the API's 8 MiB: an answer is lost less often. */
const PART_BYTES = 4 * 1024 * 1024
const ATTEMPTS_MAX = 6

type PartSender = {
  readonly send: (offset: number, part: Blob) => Promise<unknown>
  /** Called with the bytes that have arrived. */
  readonly onSent: (bytes: number) => void
  readonly isTemporary: (error: unknown) => boolean
  /** Resolves when a part may be sent again. */
  readonly wait: (attempt: number) => Promise<void>
}

/**
 * Sends a file in parts, one after the other. A part that did not arrive is sent again.
 *
 * @throws what `send` threw, when it is not temporary or has happened six times in a row
 */
export async function sendParts(file: Blob, sender: PartSender): Promise<void> {
  let offset = 0
  let attempt = 1
  do {
    const part = file.slice(offset, offset + PART_BYTES)
    try {
      await sender.send(offset, part)
    } catch (error) {
      if (!sender.isTemporary(error) || attempt >= ATTEMPTS_MAX) throw error
      await sender.wait(attempt)
      attempt += 1
      continue
    }
    attempt = 1
    offset += part.size
    sender.onSent(offset)
  } while (offset < file.size)
}

/** A row of a report about which the person should know. */
export type ReportRow = {
  readonly number: string
  readonly place: string
  readonly oldLink: string
  readonly outcome: string
  readonly isLocked: boolean
  readonly isClosed: boolean
  readonly reason: string
}

/** Returns the first rows of a report that were not simply created. */
export function notableRows(csv: string, max: number): readonly ReportRow[] {
  const [header = [], ...lines] = parseCsv(csv)
  const at = (line: readonly string[], name: string) =>
    originalText(line[header.indexOf(name)] ?? '')
  return lines
    .map((line) => ({
      number: at(line, 'number'),
      place: at(line, 'place'),
      oldLink: at(line, 'old_link'),
      outcome: at(line, 'outcome'),
      isLocked: at(line, 'locked') === 'yes',
      isClosed: at(line, 'closed') === 'yes',
      reason: at(line, 'reason'),
    }))
    .filter(({ outcome, reason }) => outcome !== 'created' || reason !== '')
    .slice(0, max)
}

/** The hosts of the links that a report names, in the order of its rows. */
export function hostsOfLinks(csv: string): readonly string[] {
  const [header = [], ...lines] = parseCsv(csv)
  const at = header.indexOf('link')
  const links = lines.map((line) => originalText(line[at] ?? ''))
  return [...new Set(links.flatMap((link) => (URL.canParse(link) ? [new URL(link).host] : [])))]
}

/** The lines of a CSV as RFC 4180 describes it, which is how Terse writes it. */
export function parseCsv(text: string): readonly (readonly string[])[] {
  const lines: string[][] = []
  let line: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g,
  )) {
    line.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    if (line.length > 1 || line[0] !== '') lines.push(line)
    line = []
  }
  return lines
}
