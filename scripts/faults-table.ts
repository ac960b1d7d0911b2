import { ERROR_DETAILS, FAULTS } from '../contract/faults.ts'

type Texts = typeof FAULTS | typeof ERROR_DETAILS

/** The tables of codes in docs/faults.md, in Markdown, by the names of their marks. */
export const FAULT_TABLES: Readonly<Record<string, string>> = {
  faults: tableOf(FAULTS),
  details: tableOf(ERROR_DETAILS),
}

function tableOf(texts: Texts): string {
  const rows = Object.entries(texts).flatMap(([code, found]: [string, string | object]) =>
    typeof found === 'string'
      ? [`| \`${code}\` | | ${found} |`]
      : Object.entries(found).map(([reason, text]) => `| \`${code}\` | \`${reason}\` | ${text} |`),
  )
  return ['| `code` | `reason` | `message` |', '| --- | --- | --- |', ...rows].join('\n')
}
