import { useState } from 'react'
import { dateIn } from '../../text/time-zone.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { addDays } from './period.ts'
import { useChange } from './use-change.ts'
import type { View } from './view.ts'

/** Two dates, both included. */
export function PeriodDialog({ view, onClose }: { view: View; onClose: () => void }) {
  const t = useText()
  const change = useChange()
  const dateOf = (bound: string) =>
    bound.length === 10 ? bound : dateIn(view.timezone, new Date(bound))
  const [first, setFirst] = useState(dateOf(view.period.from))
  const [last, setLast] = useState(addDays(dateOf(view.period.to), -1))
  function submit() {
    change({ from: first, to: addDays(last, 1), period: undefined, interval: undefined })
    onClose()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.analytics.customTitle}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button look="ink" type="submit">
            {t.analytics.apply}
          </Button>
        </>
      }
    >
      <div className="two">
        <Field label={t.analytics.from}>
          {(props) => (
            <Input
              {...props}
              type="date"
              required
              min="2000-01-01"
              value={first}
              onChange={(event) => setFirst(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.analytics.to}>
          {(props) => (
            <Input
              {...props}
              type="date"
              required
              // The browser says so, as for a date that is missing.
              min={first}
              max="2199-12-31"
              value={last}
              onChange={(event) => setLast(event.target.value)}
            />
          )}
        </Field>
      </div>
    </Dialog>
  )
}
