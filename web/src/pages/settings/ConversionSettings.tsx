import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type ConversionSettingsResource,
  conversionSettingsQuery,
  editedConversionSettingsQuery,
  saveConversionSettings,
} from '../../api/conversions.ts'
import { LeaveGuard } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, FormNote, Input } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { RowsSkeleton, Section } from './Section.tsx'

/** How conversions of the workspace are counted. */
export function ConversionSettings() {
  const t = useText()
  const { data, error } = useQuery(editedConversionSettingsQuery)
  return (
    <Section title={t.conversions.title} hint={t.conversions.settings.hint}>
      {data === undefined && error === null && <RowsSkeleton rows={2} />}
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {data && <SettingsForm key={data.version} saved={data.value} version={data.version} />}
    </Section>
  )
}

type SettingsFormProps = {
  readonly saved: ConversionSettingsResource
  readonly version: string | undefined
}

function SettingsForm({ saved, version }: SettingsFormProps) {
  const t = useText()
  const words = t.conversions.settings
  const client = useQueryClient()
  const mayEdit = useMembership().may('admin')
  const [isOn, setOn] = useState(saved.track_conversions)
  const [parameter, setParameter] = useState(saved.parameter)
  const [days, setDays] = useState(String(saved.window_days))
  const settings = {
    track_conversions: isOn,
    parameter: parameter.trim(),
    window_days: Number(days),
  }
  const isChanged = JSON.stringify(settings) !== JSON.stringify(saved)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => saveConversionSettings(settings, version),
    async onSuccess() {
      const queries = [editedConversionSettingsQuery, conversionSettingsQuery]
      await Promise.all(queries.map(({ queryKey }) => client.invalidateQueries({ queryKey })))
      showMessage(t.settings.saved)
    },
  })
  const faults = useFaults(error, ['parameter', 'window_days'])
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
      <div className="grid gap-1">
        <label className="flex gap-2 items-center text-13">
          <input
            type="checkbox"
            className="cb"
            disabled={!mayEdit}
            checked={isOn}
            onChange={({ target }) => setOn(target.checked)}
          />
          {words.track}
        </label>
        <span className="hint">{words.trackHint}</span>
      </div>
      <Field
        label={words.parameter}
        hint={words.parameterHint(parameter)}
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
      <Field label={words.window} hint={words.windowHint} errors={faults.of('window_days')}>
        {(control) => (
          <Input
            {...control}
            type="number"
            min={1}
            max={400}
            required
            readOnly={!mayEdit}
            value={days}
            onChange={(event) => setDays(event.target.value)}
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
