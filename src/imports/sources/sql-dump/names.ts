/** Returns a name without its quotes. */
export function unquoteName(text: string): string {
  const name = text.trim()
  const quote = name[0]
  if (quote !== '`' && quote !== '"') return name
  return name.slice(1, -1).replaceAll(quote + quote, quote)
}

/** Splits a list at its commas, except those in quotes and parentheses. */
export function splitColumns(list: string): string[] {
  const items: string[] = []
  let depth = 0
  let start = 0
  let quote: string | undefined
  for (let at = 0; at < list.length; at += 1) {
    const character = list[at]
    if (quote !== undefined) {
      if (character === '\\' && quote === "'") at += 1
      else if (character === quote) quote = undefined
    } else if (character === '`' || character === '"' || character === "'") quote = character
    else if (character === '(') depth += 1
    else if (character === ')') depth -= 1
    else if (character === ',' && depth === 0) {
      items.push(list.slice(start, at))
      start = at + 1
    }
  }
  items.push(list.slice(start))
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

const NO_COLUMN =
  /^(?:primary|unique|key|index|constraint|fulltext|spatial|foreign|check|period|exclude)\b/i
const NAME = '(?:`(?:[^`]|``){1,64}`|"(?:[^"]|""){1,64}"|[\\w$\\u0080-\\uffff]{1,64})'
const CREATE_TABLE = new RegExp(
  `^create\\s+(?:temporary\\s+)?table\\s+(?:if\\s+not\\s+exists\\s+)?(?:${NAME}\\s*\\.\\s*)?(${NAME})\\s*\\(`,
  'i',
)
const COLUMN = new RegExp(`^${NAME}`)

/** Returns the table that a statement creates, and its columns in order; undefined for any other statement. */
export function parseCreateTable(
  statement: string,
): { readonly table: string; readonly columns: readonly string[] } | undefined {
  const head = CREATE_TABLE.exec(statement)
  const name = head?.[1]
  if (head === null || name === undefined) return undefined
  const body = statement.slice(head[0].length, statement.lastIndexOf(')'))
  const columns = splitColumns(body)
    .filter((item) => !NO_COLUMN.test(item))
    .map((item) => unquoteName(COLUMN.exec(item)?.[0] ?? item))
  return { table: unquoteName(name), columns }
}
