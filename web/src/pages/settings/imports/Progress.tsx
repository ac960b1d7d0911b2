import type { ImportResource } from '../../../api/imports.ts'
import { useFormats, useText } from '../../../text/use-text.ts'

/** How far an import is, where its source says how many links it has; else how many rows are done. */
export function Progress({ of }: { of: ImportResource }) {
  const t = useText()
  const formats = useFormats()
  const { rows_done: done, links_expected: expected, status, dry_run: isDryRun } = of
  const label = isDryRun ? t.imports.trying : t.imports.importing
  return (
    <div className="grid gap-1">
      {expected === null || status === 'queued' ? (
        <progress aria-label={label} />
      ) : (
        <progress value={Math.min(done, expected)} max={Math.max(1, expected)} aria-label={label} />
      )}
      <span className="muted text-13">
        {label} · {t.imports.rowsDone(formats.number(done))}
      </span>
    </div>
  )
}
