import { useText } from '../../../text/use-text.ts'
import { Field, Select } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { CSV_FIELDS } from './sources.ts'

type Columns = Readonly<Record<string, string>>

type ColumnsFormProps = {
  /** Of the file. */
  readonly names: readonly string[]
  /** From a field of a link to a column. */
  readonly chosen: Columns
  readonly onChange: (chosen: Columns) => void
  /** Columns that are no field, whatever they seem to say. */
  readonly ignored: readonly string[]
  readonly onIgnore: (ignored: readonly string[]) => void
  readonly errors: readonly string[]
}

/** Which column of a CSV file has which field. */
export function ColumnsForm(props: ColumnsFormProps) {
  const { names, chosen, onChange, ignored, onIgnore, errors } = props
  const t = useText()
  const others = names.filter((name) => name !== '' && !Object.values(chosen).includes(name))
  function choose(field: string, column: string) {
    const { [field]: _before, ...others } = chosen
    onChange(column === '' ? others : { ...others, [field]: column })
  }
  return (
    <fieldset className="grid gap-3">
      <legend className="lab mb-2 p-0">{t.imports.columns}</legend>
      <p className="muted text-13">{t.imports.columnsHint}</p>
      <FormNote text={errors.length > 0 ? errors.join(' ') : undefined} />
      <div className="columns">
        {CSV_FIELDS.map((field) => (
          <Field key={field} label={t.imports.fields[field]}>
            {(control) => (
              <Select
                {...control}
                value={chosen[field] ?? ''}
                onChange={(event) => choose(field, event.target.value)}
              >
                <option value="">{t.imports.noColumn}</option>
                {names.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        ))}
      </div>
      {others.length > 0 && (
        <fieldset className="grid gap-2">
          <legend className="lab mb-2 p-0">{t.imports.ignored}</legend>
          <p className="muted text-13">{t.imports.ignoredHint}</p>
          <div className="flex flex-wrap gap-x-5 gap-y-2">
            {others.map((name) => (
              <label key={name} className="flex gap-2 items-center text-13">
                <input
                  type="checkbox"
                  className="cb"
                  checked={ignored.includes(name)}
                  onChange={({ target }) =>
                    onIgnore(
                      target.checked
                        ? [...ignored, name]
                        : ignored.filter((other) => other !== name),
                    )
                  }
                />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
      )}
    </fieldset>
  )
}
