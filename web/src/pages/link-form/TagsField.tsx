import { TagInput } from '../../shell/TagInput.tsx'
import { useText } from '../../text/use-text.ts'
import { Field } from '../../widgets/Field.tsx'
import type { FormState } from './form-state.ts'

export function TagsField({ draft, errors, change }: FormState) {
  const t = useText()
  return (
    <Field label={t.linkForm.tags} errors={errors['tags']}>
      {(control) => (
        <TagInput control={control} tags={draft.tags} onChange={(tags) => change({ tags })} />
      )}
    </Field>
  )
}
