import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  cancelImport,
  IMPORTS_KEY,
  type ImportResource,
  importQuery,
  isRunning,
} from '../../../api/imports.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useChange } from '../../../shell/use-change.ts'
import { useText } from '../../../text/use-text.ts'
import { Button, buttonClass } from '../../../widgets/Button.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'
import { FileStep } from './FileStep.tsx'
import { ImportStatus } from './ImportStatus.tsx'
import { ImportSteps } from './ImportSteps.tsx'
import { OptionsForm } from './OptionsForm.tsx'
import { Outcome } from './Outcome.tsx'
import { Progress } from './Progress.tsx'
import { sourceOf } from './sources.ts'

const route = getRouteApi('/shell/settings/imports/$importId')

/** One import, from its file to its end. It may be left and opened again at any step. */
export default function ImportPage() {
  const { importId } = route.useParams()
  const { data, error } = useQuery(importQuery(importId))
  if (data === undefined) return error === null ? <RowsSkeleton /> : <LoadFailure error={error} />
  return <Shown key={importId} shown={data} />
}

function Shown({ shown }: { shown: ImportResource }) {
  const t = useText()
  const client = useQueryClient()
  const [isChanged, setChanged] = useState(false)
  const { id, status, needs_file: needsFile, file_bytes: bytes } = shown
  const { mutate: cancel, isPending } = useChange(() => cancelImport(id), { keys: [IMPORTS_KEY] })
  const lacksFile = status === 'waiting' && needsFile && bytes === null
  const isTried = status === 'succeeded' && shown.dry_run
  // What failed on trial is changed and tried again.
  const hasFailed = status === 'failed' && !shown.dry_run
  const isOpen = status === 'waiting' || status === 'failed' || isTried || isRunning(shown)
  const show = (next: ImportResource) => {
    setChanged(false)
    client.setQueryData(importQuery(id).queryKey, next)
  }
  return (
    <Section
      title={t.imports.from(sourceOf(shown.source)?.name ?? shown.source)}
      isFirst
      actions={
        <>
          <ImportStatus of={shown} />
          {isOpen && (
            <Button size="small" isBusy={isPending} onClick={() => cancel(undefined)}>
              {t.imports.cancel}
            </Button>
          )}
        </>
      }
    >
      <div className="grid gap-6">
        <ImportSteps shown={shown} needsFile={needsFile} />
        {status === 'waiting' && needsFile && <FileStep shown={shown} onSent={show} />}
        {isRunning(shown) && <Progress of={shown} />}
        {(isTried || status === 'failed' || hasEnded(shown)) && <Outcome of={shown} />}
        {((status === 'waiting' && !lacksFile) || isTried || status === 'failed') && (
          <OptionsForm
            key={`${shown.file_bytes} ${status} ${isChanged}`}
            shown={shown}
            isFolded={!isChanged && (isTried || hasFailed)}
            onFold={(isFolded) => setChanged(!isFolded)}
            onStarted={show}
          />
        )}
        {hasEnded(shown) && (
          <div className="flex gap-2">
            <Link to="/links" search={{}} className={buttonClass({ look: 'ink' })}>
              {t.imports.showLinks}
            </Link>
            <Link to="/settings/imports" className={buttonClass({})}>
              {t.imports.allImports}
            </Link>
          </div>
        )}
      </div>
    </Section>
  )
}

function hasEnded({ status, dry_run: isDryRun }: ImportResource): boolean {
  return status === 'cancelled' || (status === 'succeeded' && !isDryRun)
}
