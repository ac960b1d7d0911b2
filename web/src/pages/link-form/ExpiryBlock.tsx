import { CalendarIcon } from '../../icons/index.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Field, Input } from '../../widgets/Field.tsx'
import { useNow } from '../../widgets/Time.tsx'
import { Block } from './Block.tsx'
import type { FormState } from './form-state.ts'
import { localMinute } from './link-draft.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A day of the calendar, or a span from now. */
export function ExpiryBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const formats = useFormats()
  const now = useNow()
  const zone = Intl.DateTimeFormat()
    .resolvedOptions()
    .timeZone.split('/')
    .at(-1)
    ?.replaceAll('_', ' ')
  const inMs = (ms: number) => () => change({ expires: localMinute(new Date(Date.now() + ms)) })
  const endOfYear = () => change({ expires: `${new Date().getFullYear()}-12-31T23:59` })
  const summary =
    draft.expires === '' ? t.linkForm.noExpiry : formats.until(new Date(draft.expires), now)
  return (
    <Block
      title={t.linkForm.expiry}
      summary={summary}
      isFilled={draft.expires !== '' || draft.expired_redirect_url !== ''}
      hasErrors={errors['expires_at'] !== undefined || errors['expired_redirect_url'] !== undefined}
    >
      <div className="two">
        <Field label={t.linkForm.expires} errors={errors['expires_at']}>
          {(control) => (
            <Input
              {...control}
              icon={CalendarIcon}
              type="datetime-local"
              after={<span className="hint flex-none">{zone}</span>}
              value={draft.expires}
              onChange={(event) => change({ expires: event.target.value })}
            />
          )}
        </Field>
        <Field label={t.linkForm.expiredUrl} errors={errors['expired_redirect_url']}>
          {(control) => (
            <Input
              {...control}
              inputMode="url"
              placeholder={t.linkForm.expiredUrlHint}
              value={draft.expired_redirect_url}
              onChange={(event) => change({ expired_redirect_url: event.target.value })}
            />
          )}
        </Field>
      </div>
      <div className="flex gap-1.5 flex-wrap">
        <button type="button" className="chip" onClick={inMs(DAY_MS)}>
          {t.linkForm.expiresIn.day}
        </button>
        <button type="button" className="chip" onClick={inMs(7 * DAY_MS)}>
          {t.linkForm.expiresIn.week}
        </button>
        <button type="button" className="chip" onClick={inMs(30 * DAY_MS)}>
          {t.linkForm.expiresIn.month}
        </button>
        <button type="button" className="chip" onClick={endOfYear}>
          {t.linkForm.expiresIn.year}
        </button>
        {draft.expires !== '' && (
          <button type="button" className="chip add" onClick={() => change({ expires: '' })}>
            {t.linkForm.noExpiry}
          </button>
        )}
      </div>
    </Block>
  )
}
