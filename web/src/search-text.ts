/** The values of a query string; several of one name are a list. */
export type SearchValues = Readonly<Record<string, string | readonly string[]>>

export function parseSearchText(text: string): SearchValues {
  const values: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const before = values[name]
    values[name] = before === undefined ? value : [before, value].flat()
  }
  return values
}

/** Leaves out what is undefined or an empty list. */
export function formatSearchText(values: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

/** One text, or undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A list of texts, or undefined for none. */
export function textsOf(value: unknown): readonly string[] | undefined {
  const texts = [value].flat().filter((one): one is string => typeof one === 'string' && one !== '')
  return texts.length === 0 ? undefined : texts
}

/** A whole number from 1, or undefined for anything else. */
export function positiveOf(value: unknown): number | undefined {
  const number = Number(value)
  return Number.isSafeInteger(number) && number > 0 ? number : undefined
}

/** One of the words, or undefined for anything else. */
export function wordOf<const T extends string>(words: readonly T[], value: unknown): T | undefined {
  return words.find((word) => word === value)
}

/** A day as `YYYY-MM-DD`. */
export function dayOf(value: unknown): string | undefined {
  const text = textOf(value)
  const isDay = text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text)
  return isDay && !Number.isNaN(Date.parse(text)) ? text : undefined
}
