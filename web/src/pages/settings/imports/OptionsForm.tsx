import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type ImportResource,
  importColumnsQuery,
  type StartImportInput,
  startImport,
} from '../../../api/imports.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import type { Catalogue } from '../../../text/en.ts'
import { browserTimeZone } from '../../../text/time-zone.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Field, Input, Select } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { ColumnsForm } from './ColumnsForm.tsx'
import { choicesOf, columnOptions } from './column-choices.ts'
import { DomainPairs } from './DomainPairs.tsx'
import { sourceOf } from './sources.ts'

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
