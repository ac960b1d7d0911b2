import { csvLine } from '@terse/contract/csv'
import { CONVERSION_EXPORT } from './example-smart-links.ts'
import {
  DOMAIN,
  exportedClick,
  exportedLink,
  GRACE,
  LINK,
  OTHER,
  TOKEN,
  WORKSPACE,
} from './example-values.ts'

const clicksCsv =
  csvLine(Object.keys(exportedClick)) + csvLine(Object.values(exportedClick).map(String))

const QR_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 33 33" width="512" height="512"><path d="M4 4h7v1H4z"/></svg>'

/** Examples of answers that have no schema of a name, by operation and type of content. */
export const OPERATION_EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'links.export': {
    'text/csv':
      csvLine(['id', 'link', 'tags']) + csvLine([LINK, exportedLink.link, '["spring","print"]']),
    'application/x-ndjson': exportedLink,
  },
  'links.getQrCode': { 'image/svg+xml': QR_SVG },
  'links.drawQrCode': { 'image/svg+xml': QR_SVG },
  'imports.getReport': {
    'text/csv':
      csvLine(['number', 'place', 'old_link', 'outcome', 'link', 'link_id', 'reason']) +
      csvLine([1, 'line 2', 'https://old.example/spring', 'created', exportedLink.link, LINK, '']),
  },
  'clicks.export': { 'text/csv': clicksCsv },
  ...CONVERSION_EXPORT,
  'links.exportClicks': { 'text/csv': clicksCsv },
  'domains.exportClicks': { 'text/csv': clicksCsv },
}

/** The ids of the story, by the first segment of a path. */
const IDS: Readonly<Record<string, string>> = {
  links: LINK,
  domains: DOMAIN,
  workspaces: WORKSPACE,
  members: GRACE,
  people: GRACE,
  tokens: TOKEN,
}

/** Values of the query without which an operation refuses a request, or does nothing of interest. */
const QUERIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'links.checkKey': { domain: 'go.example.com', key: 'spring' },
  'clicks.getSparklines': { link: [LINK] },
  'imports.uploadFile': { offset: 0 },
}

/** Returns the example of a parameter, in the path or in the query of an operation; undefined where none is needed. */
export function parameterExample(
  name: string,
  { operationId, path }: { readonly operationId: string; readonly path: string },
): unknown {
  if (name === 'id') return IDS[path.split('/')[3] ?? ''] ?? OTHER
  return QUERIES[operationId]?.[name]
}
