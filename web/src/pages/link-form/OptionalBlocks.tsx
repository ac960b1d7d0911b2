import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useId, useState } from 'react'
import { utmTemplatesQuery } from '../../api/utm-templates.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CalendarIcon, ChevronDownIcon, ChevronRightIcon } from '../../icons/index.ts'
import { browserTimeZone } from '../../text/time-zone.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Chip } from '../../widgets/Chip.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { useNow } from '../../widgets/Time.tsx'
import { ExpiryChips } from './ExpiryChips.tsx'
import { type FormState, UTM_FIELDS, type UtmField } from './link-draft.ts'

/** UTM parameters, device targets, password, expiry and the external id. */
export function OptionalBlocks(state: FormState) {
  return (
    <>
      <UtmBlock {...state} />
      <TargetsBlock {...state} />
      <PasswordBlock {...state} />
      <ExpiryBlock {...state} />
      <ExternalIdBlock {...state} />
    </>
  )
}

function TargetsBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const fields = ['ios', 'android'] as const
  const filled = fields.filter((field) => draft[field] !== '')
  const names = { ios: 'iOS', android: 'Android' }
  return (
    <Block
      title={t.linkForm.targets}
      summary={filled.map((field) => names[field]).join(', ') || t.common.none}
      isFilled={filled.length > 0}
      hasErrors={fields.some((field) => errors[field] !== undefined)}
    >
      <div className="two">
        {fields.map((field) => (
          <Field key={field} label={t.linkForm[field]} errors={errors[field]}>
            {(control) => (
              <Input
                {...control}
                inputMode="url"
                placeholder={t.linkForm.sameAsDestination}
                value={draft[field]}
                onChange={(event) => change({ [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </Block>
  )
}

function PasswordBlock({ draft, link, errors, change }: FormState) {
  const t = useText()
  const hasPassword = link !== undefined && link.password !== null && !draft.removesPassword
  const isSet = hasPassword || draft.password !== ''
  return (
    <Block
      title={t.linkForm.password}
      summary={isSet ? t.linkForm.passwordSet : t.common.none}
      isFilled={isSet || draft.asksPassword}
      hasErrors={errors['password'] !== undefined}
    >
      <Field
        label={t.linkForm.password}
        hint={
          draft.asksPassword
            ? t.linkForm.passwordOfCopy
            : hasPassword
              ? t.linkForm.passwordKeep
              : t.linkForm.passwordHint
        }
        errors={errors['password']}
        aside={
          (hasPassword || draft.asksPassword) && (
            <Button
              size="small"
              look="bare"
              onClick={() =>
                change({ password: '', removesPassword: hasPassword, asksPassword: false })
              }
            >
              {hasPassword ? t.linkForm.removePassword : t.linkForm.noPassword}
            </Button>
          )
        }
      >
        {(control) => (
          <Input
            {...control}
            type="text"
            autoComplete="off"
            spellCheck={false}
            value={draft.password}
            onChange={(event) => change({ password: event.target.value })}
          />
        )}
      </Field>
    </Block>
  )
}

function ExternalIdBlock({ draft, errors, change }: FormState) {
  const t = useText()
  return (
    <Block
      title={t.linkForm.more}
      summary={draft.external_id || t.common.none}
      isFilled={draft.external_id !== ''}
      hasErrors={errors['external_id'] !== undefined}
    >
      <Field
        label={t.linkForm.externalId}
        hint={t.linkForm.externalIdHint}
        errors={errors['external_id']}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            value={draft.external_id}
            onChange={(event) => change({ external_id: event.target.value })}
          />
        )}
      </Field>
    </Block>
  )
}

/** A day of the calendar, or a span from now. */
function ExpiryBlock({ draft, errors, change }: FormState) {
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
          <Chip isQuiet onClick={() => change({ expires: '' })}>
            {t.linkForm.noExpiry}
          </Chip>
        )}
      </div>
    </Block>
  )
}

const UtmTemplateDialog = lazy(() => import('../../shell/UtmTemplateDialog.tsx'))

/** The UTM parameters, filled from a template or by hand. */
function UtmBlock(state: FormState) {
  const { draft, errors, change } = state
  const t = useText()
  const filled = UTM_FIELDS.filter((field) => draft[field] !== '')
  return (
    <Block
      title={t.linkForm.utm}
      summary={
        filled.length > 0
          ? filled.map((field) => t.linkForm.utmFields[field]).join(', ')
          : t.common.none
      }
      isFilled={filled.length > 0}
      hasErrors={UTM_FIELDS.some((field) => errors[field] !== undefined)}
    >
      <Templates {...state} />
      <div className="two">
        {UTM_FIELDS.map((field, nth) => (
          <Field
            key={field}
            errors={errors[field]}
            label={
              <>
                <span className={`utm-k b${nth + 1}`} />
                {t.linkForm.utmFields[field]}
              </>
            }
          >
            {(control) => (
              <Input
                {...control}
                placeholder={t.linkForm.none}
                value={draft[field]}
                onChange={(event) => change({ [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </Block>
  )
}

/** Fills the fields from a template, and saves what is filled as a new one. */
function Templates({ draft, change }: FormState) {
  const t = useText()
  const { data: templates = [] } = useQuery(utmTemplatesQuery)
  const [isSaving, setSaving] = useState(false)
  const values = Object.fromEntries(UTM_FIELDS.map((field) => [field, draft[field]])) as Record<
    UtmField,
    string
  >
  const isFilled = Object.values(values).some((value) => value !== '')
  const current = templates.find((template) =>
    UTM_FIELDS.every((field) => (template[field] ?? '') === values[field]),
  )

  function fill(id: string) {
    const template = templates.find((one) => one.id === id)
    if (template === undefined) return
    change(Object.fromEntries(UTM_FIELDS.map((field) => [field, template[field] ?? ''])))
  }

  if (templates.length === 0 && !isFilled) return null
  return (
    <>
      <Field
        label={t.utmTemplates.choose}
        aside={
          isFilled &&
          current === undefined && (
            <Button size="small" look="bare" onClick={() => setSaving(true)}>
              {t.utmTemplates.saveAs}
            </Button>
          )
        }
      >
        {(control) => (
          <Select
            {...control}
            value={current?.id ?? ''}
            onChange={(event) => fill(event.target.value)}
          >
            <option value="" disabled>
              {t.utmTemplates.choice}
            </option>
            {templates.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {isSaving && (
        <Suspense fallback={null}>
          <UtmTemplateDialog start={{ name: '', ...values }} onClose={() => setSaving(false)} />
        </Suspense>
      )}
    </>
  )
}

type BlockProps = {
  readonly title: string
  /** What the block holds, in few words; shown right of the title. */
  readonly summary?: ReactNode
  /** Open at first: it holds something, or an error. */
  readonly isFilled: boolean
  readonly hasErrors: boolean
  readonly children: ReactNode
}

/** A part of the form that is folded while it is empty. */
function Block({ title, summary, isFilled, hasErrors, children }: BlockProps) {
  const id = useId()
  const [isOpen, setOpen] = useState(isFilled)
  const isShown = isOpen || hasErrors
  return (
    <section className="fold">
      <h2 className="sec-h">
        <button
          type="button"
          className="bh"
          aria-expanded={isShown}
          aria-controls={isShown ? id : undefined}
          onClick={() => setOpen(!isShown)}
        >
          <Icon of={isShown ? ChevronDownIcon : ChevronRightIcon} />
          {title}
          <span className="sum">{summary}</span>
        </button>
      </h2>
      {isShown && (
        <div id={id} className="grid gap-4">
          {children}
        </div>
      )}
    </section>
  )
}
