import type { ImportResource } from '../../../api/imports.ts'
import { useText } from '../../../text/use-text.ts'

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
