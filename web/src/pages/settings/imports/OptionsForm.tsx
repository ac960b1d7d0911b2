import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type ImportResource, type StartImportInput, startImport } from '../../../api/imports.ts'
import { useFaults } from '../../../shell/use-faults.ts'
import { browserTimeZone } from '../../../text/time-zone.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Field, Input, Select } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { ColumnsForm } from './ColumnsForm.tsx'
import { DomainPairs } from './DomainPairs.tsx'
import { sourceOf } from './sources.ts'

const CONFLICTS = ['skip', 'update', 'rename', 'fail'] as const

type OptionsFormProps = {
  readonly shown: ImportResource
  /** Shows only the buttons. */
  readonly isFolded: boolean
  readonly onUnfold: () => void
  readonly onStarted: (next: ImportResource) => void
}

/** How the source is read, and the buttons that try it or start it. */
export function OptionsForm({ shown, isFolded, onUnfold, onStarted }: OptionsFormProps) {
  const t = useText()
  const [columns, setColumns] = useState(() => startColumns(shown))
  const [ignored, setIgnored] = useState<readonly string[]>(shown.ignored_columns)
  const [pairs, setPairs] = useState(shown.domains)
  const [conflict, setConflict] = useState(shown.on_conflict)
  const [zone, setZone] = useState(() => startZone(shown))
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: (input: StartImportInput) => startImport(shown.id, input),
    onSuccess: onStarted,
  })
  const faults = useFaults(error, ['timezone', 'columns', 'ignored_columns', 'domains'])
  // A failed import goes on as it began, if it did.
  const hasBegun = shown.started_at !== null && shown.rows_done > 0
  const mayChange = shown.status !== 'failed' || !hasBegun || shown.dry_run
  const options = mayChange
    ? {
        domains: pairs,
        on_conflict: conflict,
        timezone: zone,
        ...(shown.file_columns !== null && {
          columns,
          ignored_columns: ignored.filter((name) => !Object.values(columns).includes(name)),
        }),
      }
    : {}
  const isTried = shown.status === 'succeeded'
  const hasLocalDates = sourceOf(shown.source)?.hasLocalDates === true
  return (
    <form
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        mutate({ ...options, dry_run: false })
      }}
    >
      <FormNote text={faults.general} />
      {!isFolded && mayChange && (
        <>
          {shown.file_columns !== null && (
            <ColumnsForm
              names={shown.file_columns}
              chosen={columns}
              onChange={setColumns}
              ignored={ignored}
              onIgnore={setIgnored}
              errors={[...faults.of('columns'), ...faults.of('ignored_columns')]}
            />
          )}
          <DomainPairs pairs={pairs} onChange={setPairs} errors={faults.of('domains')} />
          <div className="grid gap-4 max-w-[420px]">
            <Field label={t.imports.conflict} hint={t.imports.conflictHints[conflict]}>
              {(control) => (
                <Select
                  {...control}
                  value={conflict}
                  onChange={({ target }) =>
                    setConflict(CONFLICTS.find((one) => one === target.value) ?? 'skip')
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
            {hasLocalDates && (
              <Field
                label={t.imports.zone}
                hint={t.imports.zoneHint}
                errors={faults.of('timezone')}
              >
                {(control) => (
                  <Input
                    {...control}
                    required
                    spellCheck={false}
                    value={zone}
                    onChange={(event) => setZone(event.target.value)}
                  />
                )}
              </Field>
            )}
          </div>
        </>
      )}
      <div className="flex flex-wrap gap-2">
        {isFolded && mayChange && <Button onClick={onUnfold}>{t.imports.changeOptions}</Button>}
        {mayChange && !isFolded && (
          <Button
            look={isTried ? 'outlined' : 'ink'}
            isBusy={isPending && variables?.dry_run === true}
            onClick={() => mutate({ ...options, dry_run: true })}
          >
            {isTried ? t.imports.tryAgain : t.imports.try}
          </Button>
        )}
        <Button
          type="submit"
          look={isTried || !mayChange ? 'ink' : 'outlined'}
          isBusy={isPending && variables?.dry_run === false}
        >
          {mayChange ? t.imports.import : t.imports.goOn}
        </Button>
      </div>
      {mayChange && !isTried && <p className="muted text-13">{t.imports.tryHint}</p>}
    </form>
  )
}

/** The columns that were chosen before, or else those that the service recognized. */
function startColumns({ columns, file_fields: recognized }: ImportResource) {
  return Object.keys(columns).length > 0 ? columns : (recognized ?? {})
}

/** The service's first choice is UTC; a person's own zone is more often right. */
function startZone({ started_at: startedAt, timezone: zone }: ImportResource): string {
  return startedAt === null ? browserTimeZone() : zone
}
