import { useId, useState } from 'react'
import { AddIcon, CloseIcon } from '../../../icons/index.ts'
import { useHosts } from '../../../shell/use-hosts.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Field, Input, Select } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { IconButton } from '../../../widgets/IconButton.tsx'
import { AddDomainDialog } from '../../domains/AddDomainDialog.tsx'
import { MissingDomain } from './MissingDomain.tsx'

type Pairs = Readonly<Record<string, string>>
type Pair = { readonly id: number; readonly from: string; readonly to: string }

type DomainPairsProps = {
  readonly pairs: Pairs
  readonly onChange: (pairs: Pairs) => void
  readonly errors: readonly string[]
}

/** Where links go: those that name no domain, and those of domains that are to change. */
export function DomainPairs({ pairs, onChange, errors }: DomainPairsProps) {
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
