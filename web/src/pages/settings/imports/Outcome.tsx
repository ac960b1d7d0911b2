import { useQuery } from '@tanstack/react-query'
import { downloadReport, type ImportResource, importReportQuery } from '../../../api/imports.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { AlertIcon, DownloadIcon } from '../../../icons/index.ts'
import { useChange } from '../../../shell/use-change.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { saveFile } from '../../../widgets/save-file.ts'
import { DomainsOfLinks } from './DomainsOfLinks.tsx'
import { hostsOfLinks, notableRows, type ReportRow } from './report-rows.ts'

const ROWS_MAX = 20

const COUNTS = [
  'created',
  'updated',
  'renamed',
  'skipped',
  'refused',
  'locked',
  'closed',
  'domains',
  'utm_templates',
  'clicks',
  'clicks_opening',
  'clicks_left_out',
] as const

/** What became of the rows: the counts, the rows about which the person should know, the report. */
export function Outcome({ of }: { of: ImportResource }) {
  const t = useText()
  const formats = useFormats()
  const { counts, fault, dry_run: isDryRun, status } = of
  const shown = COUNTS.filter((name) => name === 'created' || counts[name] > 0)
  const { mutate: download, isPending } = useChange(
    async () => saveFile(await downloadReport(of.id), 'import-report.csv'),
    { keys: [] },
  )
  return (
    <div className="grid gap-4">
      {fault !== null && (
        <div className="note bad" role="alert">
          <Icon of={AlertIcon} />
          <span>{fault}</span>
        </div>
      )}
      {status === 'succeeded' && (
        <p role="status">{isDryRun ? t.imports.triedText : t.imports.doneText}</p>
      )}
      <ul className="rows counts" aria-label={t.imports.result}>
        {shown.map((name) => (
          <li key={name}>
            <span className="grow">{t.imports.counts[name]}</span>
            <b>{formats.number(counts[name])}</b>
          </li>
        ))}
      </ul>
      {of.rows_done > 0 && <Rows of={of} />}
      {of.rows_done > 0 && (
        <div>
          <Button icon={DownloadIcon} isBusy={isPending} onClick={() => download(undefined)}>
            {t.imports.report}
          </Button>
        </div>
      )}
    </div>
  )
}

function Rows({ of }: { of: ImportResource }) {
  const { data: csv } = useQuery(importReportQuery(of))
  if (csv === undefined) return null
  return (
    <>
      {of.status !== 'cancelled' && <DomainsOfLinks hosts={hostsOfLinks(csv)} />}
      <NotableRows rows={notableRows(csv, ROWS_MAX)} />
    </>
  )
}

function NotableRows({ rows }: { rows: readonly ReportRow[] }) {
  const t = useText()
  if (rows.length === 0) return null
  return (
    <div className="grid gap-2">
      <h3 className="lab">{t.imports.notable}</h3>
      <ul className="rows">
        {rows.map((row) => (
          <li key={row.number}>
            <span className="who">
              <b>{row.oldLink || row.place}</b>
              <span>{row.reason || row.place}</span>
            </span>
            <span className="col">{outcomeText(row, t)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

type Words = ReturnType<typeof useText>

function outcomeText({ outcome, isLocked, isClosed }: ReportRow, t: Words): string {
  if (isLocked) return t.imports.outcomes.locked
  if (isClosed) return t.imports.outcomes.closed
  const names: Readonly<Record<string, string>> = t.imports.outcomes
  return names[outcome] ?? outcome
}
