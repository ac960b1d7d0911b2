/** `{query.name}`; its name is unreserved characters of URLs, which nothing encodes. */
const PLACEHOLDER = /\{query\.([A-Za-z0-9_.~-]{1,100})\}/

/** A destination of a rule. */
export type Template = {
  /** Its text, with placeholders. */
  readonly text: string
  /** The query parameters whose values the placeholders take, which the destination therefore does not get again. */
  readonly parameters: ReadonlySet<string>
  readonly fill: (visitor: { readonly query: QueryValues }) => string
}

/** The values of each parameter of a query, decoded. */
export type QueryValues = ReadonlyMap<string, readonly string[]>

const NONE: ReadonlySet<string> = new Set()

/**
 * Prepares a destination. A placeholder becomes the first value of its parameter, percent-encoded, so that a visitor
 * changes neither the host nor another part; nothing where the parameter is missing.
 */
export function compileTemplate(text: string): Template {
  const pieces = text.split(PLACEHOLDER)
  if (pieces.length === 1) return { text, parameters: NONE, fill: () => text }
  const parameters = new Set(pieces.filter((_, index) => index % 2 === 1))
  return {
    text,
    parameters,
    fill: ({ query }) =>
      pieces
        .map((piece, index) => (index % 2 === 0 ? piece : encoded(query.get(piece)?.[0] ?? '')))
        .join(''),
  }
}

/** Values of dots alone are left out: as segments of a path they would mean the folder above. */
function encoded(value: string): string {
  return /^\.+$/.test(value) ? '' : encodeURIComponent(value)
}
