import { DOMAIN, GRACE, LINK, OTHER, TOKEN, WORKSPACE } from './example-values.ts'

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
