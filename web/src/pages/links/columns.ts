import { Preference } from '../../state/preference.ts'

/** Those that can be left out, in their order. */
export const COLUMNS = ['destination', 'tags', 'clicks', 'last_click', 'created_at'] as const
export type Column = (typeof COLUMNS)[number]

export const columns = new Preference<ReadonlySet<Column>>('link-columns', (text) => {
  if (text === null) return new Set(COLUMNS)
  const names = text.split(',')
  return new Set(COLUMNS.filter((column) => names.includes(column)))
})

export function setColumn(column: Column, isShown: boolean): void {
  const shown = COLUMNS.filter((one) => (one === column ? isShown : columns.value.has(one)))
  columns.set(shown.length === COLUMNS.length ? null : shown.join(','))
}
