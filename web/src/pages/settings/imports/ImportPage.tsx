import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type DragEvent, useId, useState } from 'react'
import { domainsQuery } from '../../../api/domains.ts'
import {
  cancelImport,
  downloadReport,
  hostsOfLinks,
  IMPORTS_KEY,
  type ImportResource,
  importQuery,
  importReportQuery,
  isRunning,
  notableRows,
  REVIVAL,
  type ReportRow,
  sendImportFile,
  startImport,
} from '../../../api/imports.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { AlertIcon, DownloadIcon, GoodIcon, WarningIcon } from '../../../icons/index.ts'
import { LeaveGuard } from '../../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useServiceHost } from '../../../shell/use-domains.ts'
import { useChange, useFaults } from '../../../shell/use-faults.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button, buttonClass } from '../../../widgets/Button.tsx'
import { FormNote } from '../../../widgets/Field.tsx'
import { saveFile } from '../../../widgets/save-file.ts'
import { RowsSkeleton, Section } from '../Section.tsx'
import { ImportStatus, ImportSteps } from './ImportSteps.tsx'
import { MissingDomain, OptionsForm } from './OptionsForm.tsx'
import { nameOf, sourceOf } from './sources.ts'

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
  const isRevival = shown.source === REVIVAL
  // What failed on trial is changed and tried again.
  const hasFailed = status === 'failed' && !shown.dry_run
  const isOpen = status === 'waiting' || status === 'failed' || isTried || isRunning(shown)
  const show = (next: ImportResource) => {
    setChanged(false)
    client.setQueryData(importQuery(id).queryKey, next)
  }
  return (
    <Section
      title={isRevival ? nameOf(shown.source, t) : t.imports.from(nameOf(shown.source, t))}
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
        {isRevival && (isTried || status === 'failed') && (
          <RevivalStart shown={shown} onStarted={show} />
        )}
        {!isRevival && ((status === 'waiting' && !lacksFile) || isTried || status === 'failed') && (
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

/** Carries over what the trial has shown; one that failed is tried again, or goes on. */
function RevivalStart({
  shown,
  onStarted,
}: {
  readonly shown: ImportResource
  readonly onStarted: (next: ImportResource) => void
}) {
  const t = useText()
  const hasFailed = shown.status === 'failed'
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => startImport(shown.id, { dry_run: hasFailed && shown.dry_run }),
    onSuccess: onStarted,
  })
  const faults = useFaults(error, [])
  if (!hasFailed && shown.counts.updated === 0) return null
  const again = shown.dry_run ? t.imports.tryAgain : t.imports.goOn
  return (
    <div className="grid gap-3 justify-items-start">
      <FormNote text={faults.general} />
      <Button look="ink" isBusy={isPending} onClick={() => mutate()}>
        {hasFailed ? again : t.imports.revivals.carryOver}
      </Button>
    </div>
  )
}

function hasEnded({ status, dry_run: isDryRun }: ImportResource): boolean {
  return status === 'cancelled' || (status === 'succeeded' && !isDryRun)
}

type FileStepProps = {
  readonly shown: ImportResource
  readonly onSent: (next: ImportResource) => void
}

/** Takes the file, by choosing or dropping it, and sends it in parts. */
function FileStep({ shown, onSent }: FileStepProps) {
  const t = useText()
  const formats = useFormats()
  const client = useQueryClient()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const [sent, setSent] = useState<{ readonly bytes: number; readonly of: number }>()
  const { mutate, isPending, error, isSuccess } = useMutation({
    async mutationFn(file: File) {
      setSent({ bytes: 0, of: file.size })
      await sendImportFile(shown.id, file, (bytes) => setSent({ bytes, of: file.size }))
      return client.fetchQuery({ ...importQuery(shown.id), staleTime: 0 })
    },
    onSuccess: onSent,
  })
  const faults = useFaults(error, ['file'])
  const note = faults.of('file').join(' ') || faults.general
  function drop(event: DragEvent) {
    event.preventDefault()
    setOver(false)
    const [file] = event.dataTransfer.files
    if (file !== undefined && !isPending) mutate(file)
  }
  const before = shown.file_bytes
  return (
    <div className="grid gap-3">
      <LeaveGuard isOn={() => isPending} />
      <FormNote text={note} />
      {/* Dropping is for the mouse; the button within does the same. */}
      <fieldset
        aria-label={t.imports.chooseFile}
        className={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <label className="btn" htmlFor={id}>
          {before === null ? t.imports.chooseFile : t.imports.chooseAgain}
        </label>
        <input
          id={id}
          type="file"
          className="sr"
          accept={sourceOf(shown.source)?.accept}
          disabled={isPending}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            if (file !== undefined) mutate(file)
            target.value = ''
          }}
        />
        <span className="muted text-13">{t.imports.dropFile}</span>
      </fieldset>
      {sent !== undefined && isPending && (
        <div className="grid gap-1">
          <progress value={sent.bytes} max={Math.max(1, sent.of)} aria-label={t.imports.sending} />
          <span className="muted text-13">
            {t.imports.sent(formats.bytes(sent.bytes), formats.bytes(sent.of))}
          </span>
        </div>
      )}
      {!isPending && before !== null && (
        <p className="muted text-13" role="status">
          {isSuccess
            ? t.imports.arrived(formats.bytes(before))
            : t.imports.arrivedBefore(formats.bytes(before))}
        </p>
      )}
    </div>
  )
}

/** How far an import is, where its source says how many links it has; else how many rows are done. */
function Progress({ of }: { of: ImportResource }) {
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
  'rule_sets',
  'settings',
  'clicks',
  'clicks_opening',
  'clicks_left_out',
  'conversions',
  'conversions_left_out',
] as const

/** What became of the rows: the counts, the rows about which the person should know, the report. */
function Outcome({ of }: { of: ImportResource }) {
  const t = useText()
  const formats = useFormats()
  const { counts, fault, dry_run: isDryRun, status } = of
  const isRevival = of.source === REVIVAL
  const first = isRevival ? 'updated' : 'created'
  const shown = COUNTS.filter((name) => name === first || counts[name] > 0)
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
        <p role="status">{isRevival ? revivalText(of, t) : importText(isDryRun, t)}</p>
      )}
      <ul className="rows counts" aria-label={t.imports.result}>
        {shown.map((name) => (
          <li key={name}>
            <span className="grow">
              {isRevival && name === 'skipped'
                ? t.imports.revivals.skipped
                : t.imports.counts[name]}
            </span>
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

function importText(isDryRun: boolean, t: Words): string {
  return isDryRun ? t.imports.triedText : t.imports.doneText
}

function revivalText({ counts, dry_run: isDryRun }: ImportResource, t: Words): string {
  const { tried, done, none } = t.imports.revivals
  if (counts.updated === 0) return none
  return isDryRun ? tried : done
}

function Rows({ of }: { of: ImportResource }) {
  const { data: csv } = useQuery(importReportQuery(of))
  if (csv === undefined) return null
  return (
    <>
      {of.status !== 'cancelled' && of.source !== REVIVAL && (
        <DomainsOfLinks hosts={hostsOfLinks(csv)} />
      )}
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

/** The hosts on which the links of an import are, and which of them do not redirect yet. */
function DomainsOfLinks({ hosts }: { hosts: readonly string[] }) {
  const t = useText()
  const own = useServiceHost()
  const { data: domains } = useQuery(domainsQuery)
  if (domains === undefined || hosts.length === 0) return null
  const statusOf = (host: string) =>
    host === own ? 'active' : domains.find(({ domain }) => domain === host)?.status
  return (
    <div className="grid gap-2">
      <h3 className="lab">{t.imports.domainsOfLinks}</h3>
      <ul className="rows" aria-label={t.imports.domainsOfLinks}>
        {hosts.map((host) => (
          <li key={host} className="flex-wrap">
            {statusOf(host) === undefined ? (
              <MissingDomain host={host} />
            ) : (
              <HostState host={host} isActive={statusOf(host) === 'active'} />
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function HostState({ host, isActive }: { host: string; isActive: boolean }) {
  const t = useText()
  return (
    <>
      <span className="who">
        <b>{host}</b>
        {!isActive && <span>{t.imports.pendingDomain}</span>}
      </span>
      {isActive ? (
        <span className="badge ok">
          <Icon of={GoodIcon} />
          {t.domains.states.active}
        </span>
      ) : (
        <Link to="/domains" className="badge warn">
          <Icon of={WarningIcon} />
          {t.domains.states.pending}
        </Link>
      )}
    </>
  )
}
