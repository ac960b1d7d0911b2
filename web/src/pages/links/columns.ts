import { Preference } from '../../state/preference.ts'

/** The columns that can be left out, in their order. */
export const COLUMNS = ['destination', 'tags', 'clicks', 'last_click', 'created_at'] as const
export type Column = (typeof COLUMNS)[number]

/** Created is left out: the destination needs its room. */
const DEFAULT = COLUMNS.filter((column) => column !== 'created_at')

export const columns = new Preference<ReadonlySet<Column>>('link-columns', (text) => {
  if (text === null) return new Set(DEFAULT)
  const names = text.split(',')
  return new Set(COLUMNS.filter((column) => names.includes(column)))
})

export function setColumn(column: Column, isShown: boolean): void {
  const shown = COLUMNS.filter((one) => (one === column ? isShown : columns.value.has(one)))
  const text = shown.join(',')
  columns.set(text === DEFAULT.join(',') ? null : text)
}
