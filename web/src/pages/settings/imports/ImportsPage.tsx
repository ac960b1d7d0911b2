import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { IMPORTS_KEY, type ImportResource, importsQuery, tryRevival } from '../../../api/imports.ts'
import { type ExportFormat, exportWorkspace } from '../../../api/workspaces.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { AddIcon, DownloadIcon, ImportIcon } from '../../../icons/index.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useChange } from '../../../shell/use-faults.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../../widgets/Button.tsx'
import { Field, Select } from '../../../widgets/Field.tsx'
import { saveFile } from '../../../widgets/save-file.ts'
import { RowsSkeleton, Section } from '../Section.tsx'
import { ImportStatus } from './ImportSteps.tsx'
import { nameOf } from './sources.ts'

/** Moving in, and moving out. */
export default function ImportsPage() {
  const { may } = useMembership()
  return (
    <>
      <ImportList />
      <RevivalSection />
      {may('admin') && <ExportSection />}
    </>
  )
}

function ImportList() {
  const t = useText()
  const list = useInfiniteQuery(importsQuery)
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const imports = data?.pages.flatMap((page) => page.data)
  return (
    <Section
      title={t.imports.title}
      hint={t.imports.hint}
      isFirst
      actions={
        <Link to="/settings/imports/new" className={buttonClass({ look: 'ink' })}>
          <ButtonContent icon={AddIcon}>{t.imports.start}</ButtonContent>
        </Link>
      }
    >
      {imports === undefined && error === null && <RowsSkeleton />}
      {imports === undefined && error !== null && <LoadFailure error={error} />}
      {imports?.length === 0 && <p className="muted">{t.imports.none}</p>}
      {imports !== undefined && imports.length > 0 && (
        <ul className="rows" aria-label={t.imports.earlier}>
          {imports.map((one) => (
            <ImportRow key={one.id} shown={one} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button className="mt-3" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t.imports.more}
        </Button>
      )}
    </Section>
  )
}

function ImportRow({ shown }: { shown: ImportResource }) {
  const t = useText()
  const formats = useFormats()
  const { id, source, counts, created_at: createdAt } = shown
  const links = counts.created + counts.updated + counts.renamed
  return (
    <li>
      <Icon of={ImportIcon} />
      <Link to="/settings/imports/$importId" params={{ importId: id }} className="who">
        <b>{nameOf(source, t)}</b>
        <span>{formats.exact(new Date(createdAt))}</span>
      </Link>
      <span className="col">{t.common.links(links)}</span>
      <ImportStatus of={shown} />
    </li>
  )
}

/** Carries over what earlier imports kept, after a trial that writes nothing. */
function RevivalSection() {
  const t = useText()
  const navigate = useNavigate()
  const { mutate, isPending } = useChange(
    async () => {
      const { id } = await tryRevival()
      await navigate({ to: '/settings/imports/$importId', params: { importId: id } })
    },
    { keys: [IMPORTS_KEY] },
  )
  return (
    <Section title={t.imports.revivals.title} hint={t.imports.revivals.hint}>
      <Button isBusy={isPending} onClick={() => mutate(undefined)}>
        {t.imports.revivals.try}
      </Button>
    </Section>
  )
}

const FORMATS: readonly ExportFormat[] = ['csv-zip', 'ndjson']
const ENDINGS: Readonly<Record<ExportFormat, string>> = { 'csv-zip': 'zip', ndjson: 'ndjson' }

/** Everything of the workspace, as one file. */
function ExportSection() {
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
