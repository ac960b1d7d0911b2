import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { editedLabelsQuery, type LabelsResource, saveLabels } from '../../api/labels.ts'
import { LeaveGuard } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, FormNote, Input, TextArea } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { RowsSkeleton, Section } from './Section.tsx'

const USUAL_PARAMETER = 'via'
const ROWS_MAX = 12

/** How visits to the links of the workspace get labels. */
export default function LabelsPage() {
  const t = useText()
  const { membership } = useMembership()
  const { data, error } = useQuery(editedLabelsQuery)
  if (membership === undefined) return null
  return (
    <Section title={t.settings.pages.labels} hint={t.labels.hint} isFirst>
      {data === undefined && error === null && <RowsSkeleton rows={2} />}
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {data && <LabelsForm key={data.version} saved={data.value} version={data.version} />}
    </Section>
  )
}

type LabelsFormProps = { readonly saved: LabelsResource; readonly version: string | undefined }

function LabelsForm({ saved, version }: LabelsFormProps) {
  const t = useText()
  const client = useQueryClient()
  const { may } = useMembership()
  const [isOn, setOn] = useState(saved.parameter !== null)
  const [parameter, setParameter] = useState(saved.parameter ?? USUAL_PARAMETER)
  const [text, setText] = useState(saved.labels.join('\n'))
  const settings = { parameter: isOn ? parameter.trim() : null, labels: linesOf(text) }
  const isChanged = JSON.stringify(settings) !== JSON.stringify(saved)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => saveLabels(settings, version),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: editedLabelsQuery.queryKey })
      showMessage(t.settings.saved)
    },
  })
  const fieldOf = (nth: number) => `labels.${nth}`
  const faults = useFaults(error, [
    'parameter',
    'labels',
    ...settings.labels.map((_, nth) => fieldOf(nth)),
  ])
  const faultsOfLabels = settings.labels.flatMap((label, nth) =>
    faults.of(fieldOf(nth)).map((fault) => `${label}: ${fault}`),
  )
  const mayEdit = may('admin')
  return (
    <form
      className="grid gap-4 max-w-[420px]"
      onSubmit={(event) => {
        event.preventDefault()
        mutate()
      }}
    >
      <LeaveGuard isOn={() => isChanged && !isPending} />
      <FormNote text={faults.general} />
      <label className="flex gap-2 items-center text-13">
        <input
          type="checkbox"
          className="cb"
          disabled={!mayEdit}
          checked={isOn}
          onChange={({ target }) => setOn(target.checked)}
        />
        {t.labels.on}
      </label>
      {isOn && (
        <Field
          label={t.labels.parameter}
          hint={t.labels.parameterHint(parameter)}
          errors={faults.of('parameter')}
        >
          {(control) => (
            <Input
              {...control}
              className="mono"
              required
              readOnly={!mayEdit}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={parameter}
              onChange={(event) => setParameter(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field
        label={t.labels.list}
        hint={t.labels.listHint}
        errors={[...faults.of('labels'), ...faultsOfLabels]}
      >
        {(control) => (
          <TextArea
            {...control}
            readOnly={!mayEdit}
            rows={Math.min(ROWS_MAX, Math.max(4, settings.labels.length + 1))}
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {mayEdit ? (
        <div>
          <Button type="submit" isBusy={isPending} disabled={!isChanged}>
            {t.common.save}
          </Button>
        </div>
      ) : (
        <p className="text-13 text-text-2">{t.settings.needsRole(t.settings.roles.admin)}</p>
      )}
    </form>
  )
}

/** The labels of a text, one a line, each once. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}
