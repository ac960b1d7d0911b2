import type { ImportColumn, ImportResource } from '../../../api/imports.ts'

/** The choice of a column that has no field, whatever it seems to say. */
export const LEFT_OUT = '-'

/** Several columns can say that a link is closed: each that was recognized counts. */
const CLOSING_FIELDS: readonly string[] = ['closed', 'active', 'status']

/** From the names of columns to fields, `LEFT_OUT`, or '' for none; of others, what was recognized holds. */
export type ColumnChoices = Readonly<Record<string, string>>

/** What was chosen before. */
export function choicesOf({
  columns,
  ignored_columns: ignored,
}: Pick<ImportResource, 'columns' | 'ignored_columns'>): ColumnChoices {
  return Object.fromEntries([
    ...ignored.map((name) => [name, LEFT_OUT]),
    ...Object.entries(columns).map(([field, name]) => [name, field]),
  ])
}

export function choiceOf(
  choices: ColumnChoices,
  { name, field }: Pick<ImportColumn, 'name' | 'field'>,
) {
  return choices[name] ?? field ?? ''
}

/** Chooses the field of a column, and takes it from the column that had it. */
export function withChoice(
  choices: ColumnChoices,
  columns: readonly ImportColumn[],
  { name }: Pick<ImportColumn, 'name'>,
  choice: string,
): ColumnChoices {
  const holders = columns.filter(
    (column) =>
      column.name !== name &&
      choice !== LEFT_OUT &&
      choiceOf(choices, column) === choice &&
      !(CLOSING_FIELDS.includes(choice) && column.field === choice),
  )
  const freed = holders.map((column) => [column.name, column.field === null ? '' : LEFT_OUT])
  return { ...choices, ...Object.fromEntries(freed), [name]: choice }
}

/** What the API takes of choices. */
export function columnOptions(
  choices: ColumnChoices,
  columns: readonly ImportColumn[],
): { readonly columns: Record<string, string>; readonly ignored_columns: string[] } {
  const chosen = columns
    .filter(({ name }) => name !== '')
    .map((column) => ({ ...column, choice: choiceOf(choices, column) }))
    // A field is named once: what a person chose last. The service recognizes the others by itself.
    .toSorted((a, b) => Number(b.field === b.choice) - Number(a.field === a.choice))
  return {
    columns: Object.fromEntries(
      chosen
        .filter(({ choice }) => choice !== '' && choice !== LEFT_OUT)
        .map(({ name, choice }) => [choice, name]),
    ),
    ignored_columns: chosen.flatMap(({ name, choice }) => (choice === LEFT_OUT ? [name] : [])),
  }
}
