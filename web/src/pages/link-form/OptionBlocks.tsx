import { PATH_MODES, type PathMode, QUERY_MODES, type QueryMode } from '@terse/contract/link-fields'
import { useId } from 'react'
import { CalendarIcon } from '../../icons/index.ts'
import type { Catalogue } from '../../text/en.ts'
import type { Formats } from '../../text/formats.ts'
import { browserTimeZone } from '../../text/time-zone.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Chip } from '../../widgets/Chip.tsx'
import { type ControlProps, Field, Input, Select, TextArea } from '../../widgets/Field.tsx'
import { Block } from './Block.tsx'
import { ExpiryChips } from './ExpiryChips.tsx'
import {
  capturesAlways,
  type FormState,
  type LinkDraft,
  TRACKINGS,
  type Tracking,
} from './link-draft.ts'

const LIMIT_FIELDS = ['active_from', 'expires_at', 'max_clicks', 'expired_redirect_url']

/** From when, until when and how often the link leads to its destination, and where it leads afterwards. */
export function LimitsBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const summary = limitsText(draft, useFormats(), t)
  return (
    <Block
      title={t.linkForm.limits}
      summary={summary ?? t.common.none}
      isFilled={summary !== undefined || draft.expired_redirect_url !== ''}
      hasErrors={LIMIT_FIELDS.some((field) => errors[field] !== undefined)}
    >
      <div className="two">
        <Field
          label={t.linkForm.starts}
          hint={t.linkForm.startsHint}
          errors={errors['active_from']}
        >
          {(control) => (
            <MinuteInput
              control={control}
              value={draft.starts}
              onChange={(starts) => change({ starts })}
            />
          )}
        </Field>
        <Field label={t.linkForm.expires} errors={errors['expires_at']}>
          {(control) => (
            <MinuteInput
              control={control}
              value={draft.expires}
              onChange={(expires) => change({ expires })}
            />
          )}
        </Field>
      </div>
      <div className="flex gap-1.5 flex-wrap">
        <ExpiryChips onChoose={(expires) => change({ expires })} />
        {draft.expires !== '' && (
          <Chip isQuiet onClick={() => change({ expires: '' })}>
            {t.linkForm.noExpiry}
          </Chip>
        )}
      </div>
      <div className="two">
        <Field
          label={t.linkForm.maxClicks}
          hint={t.linkForm.maxClicksHint}
          errors={errors['max_clicks']}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              placeholder={t.linkForm.anyNumber}
              value={draft.max_clicks}
              onChange={(event) => change({ max_clicks: event.target.value })}
            />
          )}
        </Field>
        <Field
          label={t.linkForm.expiredUrl}
          hint={t.linkForm.expiredUrlNote}
          errors={errors['expired_redirect_url']}
        >
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
    </Block>
  )
}

/** "at most 15,000 clicks, until 31 Jan 2027, 23:59"; undefined without a limit. */
function limitsText(
  { starts, expires, max_clicks }: LinkDraft,
  formats: Formats,
  t: Catalogue,
): string | undefined {
  const minute = (value: string) => formats.minute(new Date(value))
  const clicks = Number(max_clicks.trim())
  const parts = [
    clicks >= 1 ? t.linkForm.atMost(clicks) : '',
    starts === '' ? '' : t.linkForm.startsAt(minute(starts)),
    expires === '' ? '' : t.linkForm.endsAt(minute(expires)),
  ].filter((part) => part !== '')
  return parts.length === 0 ? undefined : parts.join(', ')
}

type MinuteInputProps = {
  readonly control: ControlProps
  /** As a `datetime-local` input has it, in the time zone of the browser. */
  readonly value: string
  readonly onChange: (value: string) => void
}

function MinuteInput({ control, value, onChange }: MinuteInputProps) {
  const zone = browserTimeZone().split('/').at(-1)?.replaceAll('_', ' ')
  return (
    <Input
      {...control}
      icon={CalendarIcon}
      type="datetime-local"
      after={<span className="hint flex-none">{zone}</span>}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** What becomes of the path behind the key, and of the visitor's query. */
export function PathBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const isAlways = capturesAlways(draft)
  const path = isAlways ? 'capture' : draft.path
  const isUsual = path === 'none' && draft.query === 'merge'
  return (
    <Block
      title={t.linkForm.pathAndQuery}
      summary={
        isUsual
          ? t.linkForm.asUsual
          : [
              path !== 'none' && t.linkForm.pathWords[path],
              draft.query !== 'merge' && t.linkForm.queryWords[draft.query],
            ]
              .filter((part) => part !== false)
              .join(', ')
      }
      isFilled={!isUsual}
      hasErrors={errors['path'] !== undefined || errors['query'] !== undefined}
    >
      <div className="two">
        <Field
          label={t.linkForm.path}
          hint={isAlways ? t.linkForm.keyCaptures : t.linkForm.pathHints[path]}
          errors={errors['path']}
        >
          {(control) => (
            <Select
              {...control}
              disabled={isAlways}
              value={path}
              onChange={(event) => change({ path: event.target.value as PathMode })}
            >
              {PATH_MODES.map((mode) => (
                <option key={mode} value={mode}>
                  {t.linkForm.pathModes[mode]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field
          label={t.linkForm.query}
          hint={t.linkForm.queryHints[draft.query]}
          errors={errors['query']}
        >
          {(control) => (
            <Select
              {...control}
              value={draft.query}
              onChange={(event) => change({ query: event.target.value as QueryMode })}
            >
              {QUERY_MODES.map((mode) => (
                <option key={mode} value={mode}>
                  {t.linkForm.queryModes[mode]}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
    </Block>
  )
}

/** Whether destinations get a token, with which conversions are reported. */
export function ConversionsBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const { track_conversions: tracking } = draft
  return (
    <Block
      title={t.linkForm.conversions}
      summary={t.linkForm.trackings[tracking]}
      isFilled={tracking !== ''}
      hasErrors={errors['track_conversions'] !== undefined}
    >
      <Field
        label={t.linkForm.track}
        hint={t.linkForm.trackHint}
        errors={errors['track_conversions']}
      >
        {(control) => (
          <Select
            {...control}
            value={tracking}
            onChange={(event) => change({ track_conversions: event.target.value as Tracking })}
          >
            {TRACKINGS.map((each) => (
              <option key={each} value={each}>
                {t.linkForm.trackings[each]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Block>
  )
}

/** What those who manage the link should know of it. */
export function NotesBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const [first = ''] = draft.notes.trim().split('\n')
  return (
    <Block
      title={t.linkForm.notes}
      summary={first || t.common.none}
      isFilled={draft.notes !== ''}
      hasErrors={errors['notes'] !== undefined}
    >
      <Field label={t.linkForm.notes} hint={t.linkForm.notesHint} errors={errors['notes']}>
        {(control) => (
          <TextArea
            {...control}
            rows={3}
            value={draft.notes}
            onChange={(event) => change({ notes: event.target.value })}
          />
        )}
      </Field>
    </Block>
  )
}

/** Whether the link may be deleted. */
export function DeletionBlock({ draft, errors, change }: FormState) {
  const { managed: words } = useText()
  const isPrevented = draft.prevent_delete
  const hint = useId()
  return (
    <Block
      title={words.deletion}
      summary={isPrevented ? words.deletions.refused : words.deletions.allowed}
      isFilled={isPrevented}
      hasErrors={errors['prevent_delete'] !== undefined}
    >
      <div className="grid gap-1">
        <label className="flex gap-2 items-center text-13">
          <input
            type="checkbox"
            className="cb"
            aria-describedby={hint}
            checked={isPrevented}
            onChange={({ target }) => change({ prevent_delete: target.checked })}
          />
          {words.preventDelete}
        </label>
        <span className="hint" id={hint}>
          {words.preventDeleteHint}
        </span>
      </div>
    </Block>
  )
}
