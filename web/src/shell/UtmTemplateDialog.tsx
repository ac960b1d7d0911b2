import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { saveUtmTemplate, UTM_TEMPLATES_KEY, type UtmTemplateFields } from '../api/utm-templates.ts'
import { useText } from '../text/use-text.ts'
import { FormDialog } from '../widgets/Dialog.tsx'
import { Field, Input } from '../widgets/Field.tsx'
import { showMessage } from '../widgets/Toasts.tsx'
import { useFaults } from './use-faults.ts'

const FIELDS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
] as const

type Draft = Readonly<Record<keyof UtmTemplateFields, string>>

type UtmTemplateDialogProps = {
  /** The template that is edited; undefined for a new one. */
  readonly id?: string
  readonly start: Draft
  /** Before the fields. */
  readonly note?: ReactNode
  readonly onClose: () => void
}

/** The name and the values of a template. */
export default function UtmTemplateDialog({ id, start, note, onClose }: UtmTemplateDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const [draft, setDraft] = useState(start)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => saveUtmTemplate(id, fieldsOf(draft)),
    async onSuccess({ name }) {
      await client.invalidateQueries({ queryKey: UTM_TEMPLATES_KEY })
      showMessage(t.utmTemplates.saved(name))
      onClose()
    },
  })
  const faults = useFaults(error, ['name', ...FIELDS])
  const inputFor = (field: keyof Draft) => (control: object) => (
    <Input
      {...control}
      value={draft[field]}
      onChange={(event) => setDraft((before) => ({ ...before, [field]: event.target.value }))}
    />
  )
  return (
    <FormDialog
      onClose={onClose}
      onSubmit={() => mutate()}
      title={id === undefined ? t.utmTemplates.newTitle : t.utmTemplates.editTitle}
      verb={t.common.save}
      isBusy={isPending}
      isIncomplete={draft.name.trim() === ''}
    >
      {note}
      <Field label={t.utmTemplates.name} errors={faults.withGeneral('name')}>
        {inputFor('name')}
      </Field>
      <div className="two">
        {FIELDS.map((field) => (
          <Field key={field} label={t.linkForm.utmFields[field]} errors={faults.of(field)}>
            {inputFor(field)}
          </Field>
        ))}
      </div>
    </FormDialog>
  )
}

function fieldsOf({ name, ...values }: Draft): UtmTemplateFields {
  const fields = Object.fromEntries(FIELDS.map((field) => [field, values[field].trim() || null]))
  return { name: name.trim(), ...fields } as UtmTemplateFields
}
