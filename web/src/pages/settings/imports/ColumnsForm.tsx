import { useId } from 'react'
import type { ImportColumn } from '../../../api/imports.ts'
import { useText } from '../../../text/use-text.ts'
import { Select } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { type ColumnChoices, choiceOf, LEFT_OUT, withChoice } from './column-choices.ts'
import { CSV_FIELDS } from './sources.ts'

type ColumnsFormProps = {
  readonly columns: readonly ImportColumn[]
  readonly choices: ColumnChoices
  readonly onChange: (choices: ColumnChoices) => void
  readonly errors: readonly string[]
}

/** Which field each column of a CSV file has, beside values of it. */
export function ColumnsForm({ columns, choices, onChange, errors }: ColumnsFormProps) {
  const t = useText()
  return (
    <fieldset className="grid gap-3">
      <legend className="lab mb-2 p-0">{t.imports.columns}</legend>
      <p className="muted text-13">{t.imports.columnsHint}</p>
      <FormNote text={errors.length > 0 ? errors.join(' ') : undefined} />
      <ul className="columns" aria-label={t.imports.columns}>
        {columns
          .filter(({ name }) => name !== '')
          .map((column, nth) => (
            <ColumnRow
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name
              key={nth}
              column={column}
              choice={choiceOf(choices, column)}
              onChoose={(choice) => onChange(withChoice(choices, columns, column, choice))}
            />
          ))}
      </ul>
    </fieldset>
  )
}

type ColumnRowProps = {
  readonly column: ImportColumn
  readonly choice: string
  readonly onChoose: (choice: string) => void
}

function ColumnRow({ column: { name, field, samples }, choice, onChoose }: ColumnRowProps) {
  const t = useText()
  const id = useId()
  return (
    <li className={choice === '' || choice === LEFT_OUT ? 'off' : ''}>
      <label htmlFor={id} className="cut" title={name}>
        {name}
      </label>
      <ul id={`${id}-samples`} className="samples" aria-label={t.imports.samplesOf(name)}>
        {samples.map((sample) => (
          <li key={sample} className="cut" title={sample}>
            {sample}
          </li>
        ))}
      </ul>
      <Select
        id={id}
        aria-describedby={`${id}-samples`}
        value={choice}
        onChange={({ target }) => onChoose(target.value)}
      >
        {field === null && <option value="">{t.imports.notRecognized}</option>}
        <option value={LEFT_OUT}>{t.imports.leaveOut}</option>
        <optgroup label={t.imports.takeAs}>
          {CSV_FIELDS.map((one) => (
            <option key={one} value={one}>
              {t.imports.fields[one]}
            </option>
          ))}
        </optgroup>
      </Select>
    </li>
  )
}
