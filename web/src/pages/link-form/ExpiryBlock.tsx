import { CalendarIcon } from '../../icons/index.ts'
import { browserTimeZone } from '../../text/time-zone.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Field, Input } from '../../widgets/Field.tsx'
import { useNow } from '../../widgets/Time.tsx'
import { Block } from './Block.tsx'
import { ExpiryChips } from './ExpiryChips.tsx'
import type { FormState } from './form-state.ts'

/** A day of the calendar, or a span from now. */
export function ExpiryBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const formats = useFormats()
  const now = useNow()
  const zone = browserTimeZone().split('/').at(-1)?.replaceAll('_', ' ')
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
        <ExpiryChips onChoose={(expires) => change({ expires })} />
        {draft.expires !== '' && (
          <button type="button" className="chip add" onClick={() => change({ expires: '' })}>
            {t.linkForm.noExpiry}
          </button>
        )}
      </div>
    </Block>
  )
}
