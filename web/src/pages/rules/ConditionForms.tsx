import type { QueryTest, TimeSpan } from '@terse/contract/rules'
import { useId } from 'react'
import { AddIcon, CloseIcon } from '../../icons/index.ts'
import { browserTimeZone } from '../../text/time-zone.ts'
import { Button, IconButton } from '../../widgets/Button.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { localMinute } from '../link-form/link-draft.ts'
import { WEEKDAYS, type Weekday } from './rule-words.ts'
import { useRuleLanguage } from './use-rule-language.ts'

type FormProps<T> = {
  readonly value: readonly T[]
  readonly onChange: (value: T[]) => void
  readonly onDone: () => void
}

const TESTS = ['equals', 'contains', 'present', 'absent'] as const

/** Parameters of the visitor's query, one of which must be as it says. */
export function QueryForm({ value, onChange, onDone }: FormProps<QueryTest>) {
  const { w } = useRuleLanguage()
  const set = (nth: number, test: QueryTest) => onChange(value.with(nth, test))
  return (
    <Lines
      count={value.length}
      onAdd={() => onChange([...value, { name: '', present: true }])}
      onRemove={(nth) => onChange(value.toSpliced(nth, 1))}
      onDone={onDone}
    >
      {(nth) => {
        const test = value[nth] ?? { name: '' }
        const kind = TESTS.find((one) => test[one] !== undefined) ?? 'present'
        const text = test.equals ?? test.contains ?? ''
        const change = (name: string, one: (typeof TESTS)[number], typed: string) =>
          set(nth, { name, [one]: one === 'equals' || one === 'contains' ? typed : true })
        return (
          <>
            <Field label={w.parameter}>
              {(control) => (
                <Input
                  {...control}
                  autoCapitalize="none"
                  autoComplete="off"
                  value={test.name}
                  onChange={(event) => change(event.target.value, kind, text)}
                />
              )}
            </Field>
            <Field label={w.test}>
              {(control) => (
                <Select
                  {...control}
                  value={kind}
                  onChange={(event) =>
                    change(test.name, TESTS.find((one) => one === event.target.value) ?? kind, text)
                  }
                >
                  {TESTS.map((one) => (
                    <option key={one} value={one}>
                      {w.testNames[one]}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            {(kind === 'equals' || kind === 'contains') && (
              <Field label={w.value}>
                {(control) => (
                  <Input
                    {...control}
                    autoCapitalize="none"
                    autoComplete="off"
                    value={text}
                    onChange={(event) => change(test.name, kind, event.target.value)}
                  />
                )}
              </Field>
            )}
          </>
        )
      }}
    </Lines>
  )
}

/** Times, in one of which the visit must happen. */
export function TimeForm({ value, onChange, onDone }: FormProps<TimeSpan>) {
  return (
    <Lines
      count={value.length}
      onAdd={() => onChange([...value, {}])}
      onRemove={(nth) => onChange(value.toSpliced(nth, 1))}
      onDone={onDone}
    >
      {(nth) => (
        <SpanFields
          span={value[nth] ?? {}}
          onChange={(change) => onChange(value.with(nth, tidied({ ...value[nth], ...change })))}
        />
      )}
    </Lines>
  )
}

type SpanChange = { readonly [Name in keyof TimeSpan]?: TimeSpan[Name] | undefined }

/** Leaves out what is not set, and the time zone where nothing is read in it. */
function tidied({ zone, ...span }: SpanChange): TimeSpan {
  const needsZone = span.weekdays !== undefined || span.hours !== undefined
  const all = { ...span, zone: needsZone ? (zone ?? browserTimeZone()) : undefined }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

type SpanFieldsProps = {
  readonly span: TimeSpan
  readonly onChange: (change: SpanChange) => void
}

function SpanFields({ span, onChange }: SpanFieldsProps) {
  const { w, weekday } = useRuleLanguage()
  const days = span.weekdays ?? []
  function toggle(day: Weekday) {
    const chosen = WEEKDAYS.filter((one) => days.includes(one) !== (one === day))
    onChange({ weekdays: chosen.length === 0 ? undefined : chosen })
  }
  function setHours(hours: { readonly from: string; readonly until: string }) {
    onChange({ hours: hours.from === '' && hours.until === '' ? undefined : hours })
  }
  const hours = span.hours ?? { from: '', until: '' }
  return (
    <>
      {(['from', 'until'] as const).map((edge) => (
        <InstantField
          key={edge}
          label={w[edge]}
          value={span[edge]}
          onChange={(instant) => onChange({ [edge]: instant })}
        />
      ))}
      <fieldset className="days-of-week">
        <legend className="lab">{w.weekdays}</legend>
        {WEEKDAYS.map((day) => (
          <button
            key={day}
            type="button"
            className="chip"
            aria-pressed={days.includes(day)}
            onClick={() => toggle(day)}
          >
            {weekday(day)}
          </button>
        ))}
      </fieldset>
      <div className="two">
        <HourField
          label={w.hoursFrom}
          value={hours.from}
          onChange={(from) => setHours({ ...hours, from })}
        />
        <HourField
          label={w.hoursUntil}
          value={hours.until}
          onChange={(until) => setHours({ ...hours, until })}
        />
      </div>
      {span.zone !== undefined && (
        <ZoneField value={span.zone} onChange={(zone) => onChange({ zone })} />
      )}
    </>
  )
}

type InstantFieldProps = {
  readonly label: string
  /** ISO 8601 */
  readonly value: string | undefined
  readonly errors?: readonly string[] | undefined
  readonly onChange: (value: string | undefined) => void
}

/** An instant, in the time zone of the browser. */
export function InstantField({ label, value, errors, onChange }: InstantFieldProps) {
  const isInstant = value !== undefined && !Number.isNaN(Date.parse(value))
  return (
    <Field label={label} errors={errors ?? []}>
      {(control) => (
        <Input
          {...control}
          type="datetime-local"
          value={isInstant ? localMinute(new Date(value)) : ''}
          onChange={({ target }) =>
            onChange(target.value === '' ? undefined : new Date(target.value).toISOString())
          }
        />
      )}
    </Field>
  )
}

type TextFieldProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** `HH:MM` up to 24:00, which a field for times does not have. */
function HourField({ label, value, onChange }: TextFieldProps) {
  return (
    <Field label={label}>
      {(control) => (
        <Input
          {...control}
          placeholder="09:00"
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

function ZoneField({ value, onChange }: Omit<TextFieldProps, 'label'>) {
  const { w } = useRuleLanguage()
  const listId = useId()
  return (
    <Field label={w.zone}>
      {(control) => (
        <>
          <Input
            {...control}
            list={listId}
            autoComplete="off"
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={listId}>
            {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

type LinesProps = {
  readonly count: number
  readonly onAdd: () => void
  readonly onRemove: (nth: number) => void
  readonly onDone: () => void
  readonly children: (nth: number) => React.ReactNode
}

/** Several small forms, one below the other. Enter in one of their fields is Done. */
function Lines({ count, onAdd, onRemove, onDone, children }: LinesProps) {
  const { w } = useRuleLanguage()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        onDone()
      }}
    >
      <div className="pick-l lines">
        {Array.from({ length: count }, (_, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
          <div key={nth} className="line-form">
            {children(nth)}
            {count > 1 && (
              <IconButton icon={CloseIcon} label={w.removeLine} onClick={() => onRemove(nth)} />
            )}
          </div>
        ))}
        <Button size="small" look="bare" icon={AddIcon} onClick={onAdd}>
          {w.addAnother}
        </Button>
      </div>
      <div className="f">
        <span />
        <Button type="submit" size="small">
          {w.done}
        </Button>
      </div>
    </form>
  )
}
