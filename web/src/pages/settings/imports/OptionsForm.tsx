import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { addDomain, DOMAINS_KEY } from '../../../api/domains.ts'
import {
  type ImportColumn,
  type ImportResource,
  importColumnsQuery,
  type StartImportInput,
  startImport,
} from '../../../api/imports.ts'
import { AddIcon, CloseIcon } from '../../../icons/index.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useHosts } from '../../../shell/use-domains.ts'
import { useChange, useFaults } from '../../../shell/use-faults.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import type { Catalogue } from '../../../text/en.ts'
import { browserTimeZone } from '../../../text/time-zone.ts'
import { useText } from '../../../text/use-text.ts'
import { Button, IconButton } from '../../../widgets/Button.tsx'
import { Field, FormNote, Input, Select } from '../../../widgets/Field.tsx'
import { AddDomainDialog } from '../../domains/AddDomainDialog.tsx'
import { RowsSkeleton } from '../Section.tsx'
import {
  type ColumnChoices,
  choiceOf,
  choicesOf,
  columnOptions,
  LEFT_OUT,
  withChoice,
} from './column-choices.ts'
import { CSV_FIELDS, sourceOf } from './sources.ts'

const CONFLICTS = ['skip', 'update', 'rename', 'fail'] as const

type OptionsFormProps = {
  readonly shown: ImportResource
  /** Shows only what follows a trial: the import, or a change of the options. */
  readonly isFolded: boolean
  readonly onFold: (isFolded: boolean) => void
  readonly onStarted: (next: ImportResource) => void
}

/** How the source is read. It is tried as it is chosen here, and imported as it was tried. */
export function OptionsForm({ shown, isFolded, onFold, onStarted }: OptionsFormProps) {
  const t = useText()
  const isCsv = shown.file_columns !== null
  const { data: columns, error: unread } = useQuery({
    ...importColumnsQuery(shown),
    enabled: isCsv && !isFolded,
  })
  const [choices, setChoices] = useState(() => choicesOf(shown))
  const [pairs, setPairs] = useState(shown.domains)
  const [conflict, setConflict] = useState(shown.on_conflict)
  const [zone, setZone] = useState(() => startZone(shown))
  const { mutate, isPending, error } = useMutation({
    mutationFn: (input: StartImportInput) => startImport(shown.id, input),
    onSuccess: onStarted,
  })
  const faults = useFaults(error, ['timezone', 'columns', 'ignored_columns', 'domains'])
  function submit() {
    if (isFolded) return mutate({ dry_run: false })
    mutate({
      dry_run: true,
      domains: pairs,
      on_conflict: conflict,
      timezone: zone,
      ...(columns !== undefined && columnOptions(choices, columns)),
    })
  }
  return (
    <form
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <FormNote text={faults.general} />
      {!isFolded && (
        <>
          {isCsv && columns === undefined && unread === null && <RowsSkeleton />}
          {isCsv && columns === undefined && unread !== null && <LoadFailure error={unread} />}
          {columns !== undefined && columns.length > 0 && (
            <ColumnsForm
              columns={columns}
              choices={choices}
              onChange={setChoices}
              errors={[...faults.of('columns'), ...faults.of('ignored_columns')]}
            />
          )}
          <DomainPairs pairs={pairs} onChange={setPairs} errors={faults.of('domains')} />
          <RowOptions
            conflict={conflict}
            onConflict={setConflict}
            zone={sourceOf(shown.source)?.hasLocalDates === true ? zone : undefined}
            onZone={setZone}
            zoneErrors={faults.of('timezone')}
          />
        </>
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="ink" isBusy={isPending}>
          {submitText(shown, isFolded, t)}
        </Button>
        {mayFold(shown) && (
          <Button onClick={() => onFold(!isFolded)}>
            {isFolded ? t.imports.changeOptions : t.common.cancel}
          </Button>
        )}
      </div>
      {!isFolded && <p className="muted text-13">{t.imports.tryHint}</p>}
    </form>
  )
}

function submitText(shown: ImportResource, isFolded: boolean, t: Catalogue): string {
  if (!isFolded) return shown.status === 'waiting' ? t.imports.try : t.imports.tryAgain
  return mayChange(shown) ? t.imports.import : t.imports.goOn
}

type RowOptionsProps = {
  readonly conflict: ImportResource['on_conflict']
  readonly onConflict: (conflict: ImportResource['on_conflict']) => void
  /** Undefined where dates have one. */
  readonly zone: string | undefined
  readonly onZone: (zone: string) => void
  readonly zoneErrors: readonly string[]
}

/** What holds for each row. */
function RowOptions({ conflict, onConflict, zone, onZone, zoneErrors }: RowOptionsProps) {
  const t = useText()
  return (
    <div className="grid gap-4 max-w-[420px]">
      <Field label={t.imports.conflict} hint={t.imports.conflictHints[conflict]}>
        {(control) => (
          <Select
            {...control}
            value={conflict}
            onChange={({ target }) =>
              onConflict(CONFLICTS.find((one) => one === target.value) ?? 'skip')
            }
          >
            {CONFLICTS.map((one) => (
              <option key={one} value={one}>
                {t.imports.conflicts[one]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {zone !== undefined && (
        <Field label={t.imports.zone} hint={t.imports.zoneHint} errors={zoneErrors}>
          {(control) => (
            <Input
              {...control}
              required
              spellCheck={false}
              value={zone}
              onChange={(event) => onZone(event.target.value)}
            />
          )}
        </Field>
      )}
    </div>
  )
}

/** Whether it was tried, so that it can be imported without another choice. */
function mayFold(shown: ImportResource): boolean {
  const wasTried = shown.status === 'succeeded' || (shown.status === 'failed' && !shown.dry_run)
  return wasTried && mayChange(shown)
}

/** A failed import goes on as it began, if it did. */
function mayChange({ status, dry_run: isDryRun, rows_done: done }: ImportResource): boolean {
  return status !== 'failed' || isDryRun || done === 0
}

/** The service's first choice is UTC; a person's own zone is more often right. */
function startZone({ started_at: startedAt, timezone: zone }: ImportResource): string {
  return startedAt === null ? browserTimeZone() : zone
}

type ColumnsFormProps = {
  readonly columns: readonly ImportColumn[]
  readonly choices: ColumnChoices
  readonly onChange: (choices: ColumnChoices) => void
  readonly errors: readonly string[]
}

/** Which field each column of a CSV file has, beside values of it. */
function ColumnsForm({ columns, choices, onChange, errors }: ColumnsFormProps) {
  const t = useText()
  return (
    <fieldset className="grid gap-3">
      <legend className="lab mb-2 p-0">{t.imports.columns}</legend>
      <p className="muted text-13">{t.imports.columnsHint}</p>
      <FormNote text={errors.length > 0 ? errors.join(' ') : undefined} />
      <ul className="columns" aria-label={t.imports.columns}>
        {columns
          .filter(({ name }) => name !== '')
          .map((column, nth) => (
            <ColumnRow
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name
              key={nth}
              column={column}
              choice={choiceOf(choices, column)}
              onChoose={(choice) => onChange(withChoice(choices, columns, column, choice))}
            />
          ))}
      </ul>
    </fieldset>
  )
}

type ColumnRowProps = {
  readonly column: ImportColumn
  readonly choice: string
  readonly onChoose: (choice: string) => void
}

function ColumnRow({ column: { name, field, samples }, choice, onChoose }: ColumnRowProps) {
  const t = useText()
  const id = useId()
  return (
    <li className={choice === '' || choice === LEFT_OUT ? 'off' : ''}>
      <label htmlFor={id} className="cut" title={name}>
        {name}
      </label>
      <ul id={`${id}-samples`} className="samples" aria-label={t.imports.samplesOf(name)}>
        {samples.map((sample) => (
          <li key={sample} className="cut" title={sample}>
            {sample}
          </li>
        ))}
      </ul>
      <Select
        id={id}
        aria-describedby={`${id}-samples`}
        value={choice}
        onChange={({ target }) => onChoose(target.value)}
      >
        {field === null && <option value="">{t.imports.notRecognized}</option>}
        <option value={LEFT_OUT}>{t.imports.leaveOut}</option>
        <optgroup label={t.imports.takeAs}>
          {CSV_FIELDS.map((one) => (
            <option key={one} value={one}>
              {t.imports.fields[one]}
            </option>
          ))}
        </optgroup>
      </Select>
    </li>
  )
}

type Pairs = Readonly<Record<string, string>>
type Pair = { readonly id: number; readonly from: string; readonly to: string }

type DomainPairsProps = {
  readonly pairs: Pairs
  readonly onChange: (pairs: Pairs) => void
  readonly errors: readonly string[]
}

/** Where links go: those that name no domain, and those of domains that are to change. */
function DomainPairs({ pairs, onChange, errors }: DomainPairsProps) {
  const t = useText()
  const listId = useId()
  const hosts = useHosts()
  const { may } = useMembership()
  const [isAdding, setAdding] = useState(false)
  const [rows, setRows] = useState<readonly Pair[]>(() =>
    Object.entries(pairs)
      .filter(([from]) => from !== '')
      .map(([from, to], id) => ({ id, from, to })),
  )
  const fallback = pairs[''] ?? ''
  function report(nextRows: readonly Pair[], nextFallback: string) {
    setRows(nextRows)
    onChange({
      ...(nextFallback !== '' && { '': nextFallback }),
      ...Object.fromEntries(
        nextRows
          .filter(({ from, to }) => from !== '' && to !== '')
          .map(({ from, to }) => [from, to]),
      ),
    })
  }
  const change = (id: number, changed: Partial<Pair>) =>
    report(
      rows.map((row) => (row.id === id ? { ...row, ...changed } : row)),
      fallback,
    )
  return (
    <fieldset className="grid gap-3">
      <legend className="lab mb-2 p-0">{t.imports.domains}</legend>
      <FormNote text={errors.length > 0 ? errors.join(' ') : undefined} />
      <div className="max-w-[420px]">
        <Field label={t.imports.withoutDomain} hint={t.imports.withoutDomainHint}>
          {(control) => (
            <Select
              {...control}
              value={fallback}
              onChange={(event) => report(rows, event.target.value)}
            >
              <option value="">{t.imports.automatic}</option>
              {hosts.map((host) => (
                <option key={host} value={host}>
                  {host}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      {may('admin') && (
        <div>
          <Button size="small" icon={AddIcon} onClick={() => setAdding(true)}>
            {t.imports.addDomain}
          </Button>
          {isAdding && (
            <AddDomainDialog
              onAdded={({ domain }) => report(rows, domain)}
              onClose={() => setAdding(false)}
            />
          )}
        </div>
      )}
      <p className="muted text-13">{t.imports.domainsHint}</p>
      <datalist id={listId}>
        {hosts.map((host) => (
          <option key={host} value={host} />
        ))}
      </datalist>
      {rows.map(({ id, from, to }) => (
        <div key={id} className="pair">
          <Input
            aria-label={t.imports.oldDomain}
            placeholder="old.example"
            value={from}
            onChange={({ target }) => change(id, { from: target.value.trim() })}
          />
          <span aria-hidden>→</span>
          <Input
            aria-label={t.imports.newDomain}
            list={listId}
            placeholder="go.example.com"
            value={to}
            onChange={({ target }) => change(id, { to: target.value.trim() })}
          />
          <IconButton
            icon={CloseIcon}
            label={t.imports.removePair}
            onClick={() =>
              report(
                rows.filter((row) => row.id !== id),
                fallback,
              )
            }
          />
          {isCompleteHost(to) && !hosts.includes(to.toLowerCase()) && <MissingDomain host={to} />}
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon={AddIcon}
          onClick={() => setRows([...rows, { id: Date.now(), from: '', to: '' }])}
        >
          {t.imports.addPair}
        </Button>
      </div>
    </fieldset>
  )
}

/** Whether it may be a whole host, and not the beginning of one that is being typed. */
function isCompleteHost(text: string): boolean {
  return /^[^\s./]+(?:\.[^\s./]+)*\.[^\s./]{2,}$/.test(text)
}

/** Says that a host is no domain of the workspace yet, with a button that adds it. */
export function MissingDomain({ host }: { host: string }) {
  const t = useText()
  const { may } = useMembership()
  const { mutate, isPending } = useChange(() => addDomain(host), {
    keys: [DOMAINS_KEY],
    message: () => t.domains.added(host),
  })
  return (
    <div className="missing-domain" role="status">
      <span className="muted text-13">
        {may('admin') ? t.imports.noDomain(host) : t.imports.noDomainForMembers(host)}
      </span>
      {may('admin') && (
        <Button size="small" icon={AddIcon} isBusy={isPending} onClick={() => mutate(undefined)}>
          {t.imports.addHost(host)}
        </Button>
      )}
    </div>
  )
}
