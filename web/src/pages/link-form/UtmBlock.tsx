import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { utmTemplatesQuery } from '../../api/utm-templates.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { Block } from './Block.tsx'
import type { FormState } from './form-state.ts'
import { UTM_FIELDS, type UtmField } from './link-draft.ts'

const UtmTemplateDialog = lazy(() => import('../../shell/UtmTemplateDialog.tsx'))

/** The UTM parameters, filled from a template or by hand. */
export function UtmBlock(state: FormState) {
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
