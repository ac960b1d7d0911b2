import { useQuery } from '@tanstack/react-query'
import { UTM_FIELDS, type UtmField } from '@terse/contract/link-fields'
import { lazy, Suspense, useState } from 'react'
import { utmTemplatesQuery } from '../../api/utm-templates.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { Block } from './Block.tsx'
import type { FormState } from './link-draft.ts'
import {
  ConversionsBlock,
  DeletionBlock,
  LimitsBlock,
  NotesBlock,
  PathBlock,
} from './OptionBlocks.tsx'
import { SharingBlock } from './SharingBlock.tsx'

/** The parts of the form that open on demand. */
export function OptionalBlocks(state: FormState) {
  return (
    <>
      <UtmBlock {...state} />
      <TargetsBlock {...state} />
      <SharingBlock {...state} />
      <PasswordBlock {...state} />
      <LimitsBlock {...state} />
      <PathBlock {...state} />
      <ConversionsBlock {...state} />
      <NotesBlock {...state} />
      <ExternalIdBlock {...state} />
      <DeletionBlock {...state} />
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
