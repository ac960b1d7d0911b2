import { type ImportResource, isRunning, REVIVAL } from '../../../api/imports.ts'
import { useText } from '../../../text/use-text.ts'

type StepName = 'source' | 'file' | 'options' | 'trial' | 'import'

/** Where a person is on the way to an import; `shown` is undefined before there is one. */
export function ImportSteps({
  shown,
  needsFile,
}: {
  readonly shown: ImportResource | undefined
  readonly needsFile: boolean
}) {
  const words = useText().imports.steps
  const names: readonly StepName[] = needsFile
    ? ['source', 'file', 'options', 'trial', 'import']
    : ['source', 'options', 'trial', 'import']
  if (shown?.status === 'cancelled' || shown?.source === REVIVAL) return null
  const at = names.indexOf(stepOf(shown))
  const isDone = (nth: number) => nth < at || hasSucceeded(shown)
  return (
    <ol className="steps wizard" aria-label={words.label}>
      {names.map((name, nth) => (
        <li
          key={name}
          className={isDone(nth) ? 'done' : nth === at ? 'at' : ''}
          aria-current={nth === at && !isDone(nth) ? 'step' : undefined}
        >
          {words[name]}
        </li>
      ))}
    </ol>
  )
}

function stepOf(shown: ImportResource | undefined): StepName {
  if (shown === undefined) return 'source'
  const { status, dry_run: isDryRun, needs_file: needsFile, file_bytes: bytes } = shown
  if (status === 'waiting') return needsFile && bytes === null ? 'file' : 'options'
  if (isRunning(shown) || status === 'failed') return isDryRun ? 'trial' : 'import'
  return 'import'
}

function hasSucceeded(shown: ImportResource | undefined): boolean {
  return shown?.status === 'succeeded' && !shown.dry_run
}

const LOOKS: Readonly<Record<ImportResource['status'], string>> = {
  waiting: 'badge',
  queued: 'badge',
  reading: 'badge',
  succeeded: 'badge ok',
  failed: 'badge bad',
  cancelled: 'badge',
}

export function ImportStatus({ of: { status, dry_run: isDryRun } }: { of: ImportResource }) {
  const t = useText()
  const isTried = status === 'succeeded' && isDryRun
  return (
    <span className={LOOKS[status]}>{isTried ? t.imports.tried : t.imports.statuses[status]}</span>
  )
}
