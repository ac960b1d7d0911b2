import { useText } from '../../text/use-text.ts'
import { Field, Input } from '../../widgets/Field.tsx'
import { ExpiryChips } from '../link-form/ExpiryChips.tsx'

/** The value for links that never expire. */
export const NEVER = 'never'

type BulkExpiryProps = {
  /** As a `datetime-local` input has it; empty while nothing is chosen. */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A day of the calendar, a span from now, or no expiry. */
export function BulkExpiry({ value, onChange }: BulkExpiryProps) {
  const t = useText()
  return (
    <div className="grid gap-3">
      <Field label={t.linkForm.expires}>
        {(control) => (
          <Input
            {...control}
            type="datetime-local"
            value={value === NEVER ? '' : value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      <div className="flex gap-1.5 flex-wrap">
        <ExpiryChips onChoose={onChange} />
        <button
          type="button"
          className="chip"
          aria-pressed={value === NEVER}
          onClick={() => onChange(value === NEVER ? '' : NEVER)}
        >
          {t.linkForm.noExpiry}
        </button>
      </div>
    </div>
  )
}
