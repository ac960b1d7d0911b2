import { useState } from 'react'
import { addDays } from '../../api/link-filter.ts'
import type { Catalogue } from '../../text/en.ts'
import type { Formats } from '../../text/formats.ts'
import { browserTimeZone, dateIn } from '../../text/time-zone.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { Popover } from '../../widgets/Popover.tsx'
import { FilterChip } from './FilterChip.tsx'

/** Days as `YYYY-MM-DD`; an end that is undefined is open. */
type Days = { readonly from: string | undefined; readonly to: string | undefined }

type CreatedFilterProps = Days & { readonly onChange: (days: Days) => void }

/** The first and the last day on which a link was created. */
export function CreatedFilter({ from, to, onChange }: CreatedFilterProps) {
  const t = useText()
  const text = daysText({ from, to }, useFormats(), t)
  return (
    <FilterChip
      name={t.links.column.created_at}
      values={text === undefined ? [] : [text]}
      onRemove={() => onChange({ from: undefined, to: undefined })}
      layer={(trigger) => (
        <Popover trigger={trigger}>
          {(close) => (
            <DaysForm
              from={from}
              to={to}
              onChange={(days) => {
                onChange(days)
                close()
              }}
            />
          )}
        </Popover>
      )}
    />
  )
}

function DaysForm({ onChange, ...days }: CreatedFilterProps) {
  const t = useText()
  const [from, setFrom] = useState(days.from ?? '')
  const [to, setTo] = useState(days.to ?? '')
  const zone = browserTimeZone()
  const today = dateIn(zone, new Date())
  const periods = [
    [t.links.lastDays(7), addDays(today, -6)],
    [t.links.lastDays(30), addDays(today, -29)],
    [t.links.thisYear, `${today.slice(0, 4)}-01-01`],
  ] as const
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const [first, last] = from !== '' && to !== '' && from > to ? [to, from] : [from, to]
        onChange({ from: first || undefined, to: last || undefined })
      }}
    >
      <div className="pick-l">
        {periods.map(([name, since]) => (
          <button
            key={name}
            type="button"
            className="op"
            onClick={() => onChange({ from: since, to: undefined })}
          >
            {name}
          </button>
        ))}
        <hr className="menu-s" />
        <div className="days">
          <Field label={t.links.createdFrom}>
            {(control) => (
              <Input
                {...control}
                type="date"
                value={from}
                max={today}
                onChange={(event) => setFrom(event.target.value)}
              />
            )}
          </Field>
          <Field label={t.links.createdTo}>
            {(control) => (
              <Input
                {...control}
                type="date"
                value={to}
                onChange={(event) => setTo(event.target.value)}
              />
            )}
          </Field>
        </div>
      </div>
      <div className="f">
        <span>{t.links.timesIn(zone.replace(/^.*\//, '').replaceAll('_', ' '))}</span>
        <Button type="submit" size="small">
          {t.links.apply}
        </Button>
      </div>
    </form>
  )
}

/** "since 1 Sep"; undefined where both ends are open. */
export function daysText({ from, to }: Days, formats: Formats, t: Catalogue): string | undefined {
  const name = (day: string) => formats.day(new Date(`${day}T00:00`))
  if (from === undefined) return to === undefined ? undefined : t.links.createdUntil(name(to))
  return to === undefined ? t.links.createdSince(name(from)) : `${name(from)} – ${name(to)}`
}
