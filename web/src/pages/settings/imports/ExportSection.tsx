import { useState } from 'react'
import { type ExportFormat, exportWorkspace } from '../../../api/exports.ts'
import { DownloadIcon } from '../../../icons/index.ts'
import { useChange } from '../../../shell/use-change.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Field, Select } from '../../../widgets/Field.tsx'
import { saveFile } from '../../../widgets/save-file.ts'
import { Section } from '../Section.tsx'

const FORMATS: readonly ExportFormat[] = ['csv-zip', 'ndjson']
const ENDINGS: Readonly<Record<ExportFormat, string>> = { 'csv-zip': 'zip', ndjson: 'ndjson' }

/** Everything of the workspace, as one file. */
export function ExportSection() {
  const t = useText()
  const { membership } = useMembership()
  const [format, setFormat] = useState<ExportFormat>('csv-zip')
  const [hasClicks, setHasClicks] = useState(false)
  const { mutate, isPending } = useChange(
    async () => {
      const file = await exportWorkspace(format, hasClicks)
      saveFile(file, `${membership?.workspace_name ?? 'terse'}.${ENDINGS[format]}`)
    },
    { keys: [] },
  )
  return (
    <Section title={t.exports.title} hint={t.exports.hint}>
      <form
        className="grid gap-4 max-w-[420px]"
        onSubmit={(event) => {
          event.preventDefault()
          mutate(undefined)
        }}
      >
        <Field label={t.exports.format} hint={t.exports.formatHints[format]}>
          {(control) => (
            <Select
              {...control}
              value={format}
              onChange={(event) => setFormat(event.target.value as ExportFormat)}
            >
              {FORMATS.map((one) => (
                <option key={one} value={one}>
                  {t.exports.formats[one]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <label className="flex gap-2 items-center text-13">
          <input
            type="checkbox"
            className="cb"
            checked={hasClicks}
            onChange={({ target }) => setHasClicks(target.checked)}
          />
          {t.exports.clicks}
        </label>
        <div>
          <Button type="submit" icon={DownloadIcon} isBusy={isPending}>
            {t.exports.download}
          </Button>
        </div>
      </form>
    </Section>
  )
}
