const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const TOKEN = 'terse_[0-9A-Za-z]{36}'
const PROOF = 'terse-verify=[0-9a-z]+'

/** Beginnings by which a page shows long values. */
const SHORTENED = { '[0-9a-f]{8}-…': ID, 'terse_\\w+…': TOKEN, 'terse-verify=\\w+…': PROOF }

/**
 * What differs at each run. A page shows an example of it, and any other value of the same form is the same output.
 * `…` in a page stands for any text within a line, and on a line of its own for any number of lines.
 */
const VARYING = [
  /** Identifiers of links, workspaces and requests. */
  ID,
  /** Instants, days, and seconds since 1970. */
  '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)',
  '\\d{4}-\\d\\d-\\d\\d',
  '\\b1\\d{9}\\b',
  /** Tokens, codes of links, secrets of authenticator apps, recovery codes, proofs of domains. */
  TOKEN,
  '(?<![\\w-])[\\w-]{43}(?![\\w-])',
  '\\b[A-Z2-7]{32}\\b',
  '\\b[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}\\b',
  PROOF,
  /** The folder of the reader, and the version of SQLite. */
  '/home/[\\w/]+|/[\\w/.-]*terse-test-[\\w/-]+',
  '\\d+\\.\\d+\\.\\d+(?=, in the data folder)',
]
const FORMS: readonly (readonly [shown: string, printed: string])[] = [
  ['^…\\n', '(?:[^\\n]*\\n)*?'],
  ['\\n…$', '(?:\\n[^\\n]*)*?'],
  ...Object.entries(SHORTENED),
  ['…', '[^\\n]*?'],
  ...VARYING.map((form) => [form, form] as const),
]
const PART = new RegExp(FORMS.map(([shown]) => `(${shown})`).join('|'), 'gm')

/** Returns whether a command printed what the page shows. */
export function isShown(shown: string, printed: string): boolean {
  let pattern = ''
  let from = 0
  for (const { 0: text, index, ...groups } of shown.matchAll(PART)) {
    const form = FORMS.findIndex((_, at) => groups[at + 1] !== undefined)
    pattern += `${RegExp.escape(shown.slice(from, index))}(?:${FORMS[form]?.[1]})`
    from = index + text.length
  }
  return new RegExp(`^${pattern}${RegExp.escape(shown.slice(from))}$`).test(printed.trimEnd())
}
