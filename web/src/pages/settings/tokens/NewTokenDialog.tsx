import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { createToken, SCOPES, type Scope, tokensQuery } from '../../../api/tokens.ts'
import { FormDialog } from '../../../shell/FormDialog.tsx'
import { SecretDialog } from '../../../shell/SecretDialog.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import { useText } from '../../../text/use-text.ts'
import { Field, Input, Select } from '../../../widgets/Field.tsx'
import { useFaultReport } from '../../../widgets/form-faults.ts'
import { EXPIRIES, type Expiry, expiryOf } from './expiry.ts'

/** What programs that make links need. */
const USUAL_SCOPES: readonly Scope[] = ['links:read', 'links:write']

/** Makes a token, and shows it once. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState(USUAL_SCOPES)
  const [expiry, setExpiry] = useState<Expiry>('year')
  const [day, setDay] = useState('')
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () => createToken({ name, scopes, expires_at: expiryOf(expiry, day, new Date()) }),
    onSuccess: () => client.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  })
  const faults = useFaults(error, ['name', 'scopes', 'expires_at'])
  if (data !== undefined) {
    return (
      <SecretDialog
        title={t.tokens.secretTitle(data.name)}
        text={t.tokens.secretText}
        label={t.tokens.secret}
        secret={data.secret}
        copyLabel={t.tokens.copyToken}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      title={t.tokens.createTitle}
      verb={t.tokens.create}
      fault={faults.general}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.tokens.name} hint={t.tokens.nameHint} errors={faults.of('name')}>
        {(control) => (
          <Input
            {...control}
            required
            autoFocus
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <ScopeChoice chosen={scopes} onChange={setScopes} errors={faults.of('scopes')} />
      <div className="grid grid-cols-2 gap-3">
        <Field label={t.tokens.expiry} errors={expiry === 'custom' ? [] : faults.of('expires_at')}>
          {(control) => (
            <Select
              {...control}
              value={expiry}
              onChange={(event) => setExpiry(event.target.value as Expiry)}
            >
              {EXPIRIES.map((one) => (
                <option key={one} value={one}>
                  {t.tokens.expiries[one]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {expiry === 'custom' && (
          <Field label={t.tokens.expiryDate} errors={faults.of('expires_at')}>
            {(control) => (
              <Input
                {...control}
                type="date"
                required
                value={day}
                onChange={(event) => setDay(event.target.value)}
              />
            )}
          </Field>
        )}
      </div>
    </FormDialog>
  )
}

type ScopeChoiceProps = {
  readonly chosen: readonly Scope[]
  readonly onChange: (scopes: readonly Scope[]) => void
  readonly errors: readonly string[]
}

function ScopeChoice({ chosen, onChange, errors }: ScopeChoiceProps) {
  const t = useText()
  const id = useId()
  const isBad = errors.length > 0
  useFaultReport(id, isBad, t.common.problems)
  return (
    <fieldset id={id} className="grid gap-2" aria-describedby={isBad ? `${id}-text` : undefined}>
      <legend className="lab mb-1">{t.tokens.scopes}</legend>
      {SCOPES.map((scope, nth) => (
        <label key={scope} className="flex gap-2 items-center text-13">
          <input
            type="checkbox"
            className="cb"
            aria-invalid={(isBad && nth === 0) || undefined}
            aria-describedby={isBad && nth === 0 ? `${id}-text` : undefined}
            checked={chosen.includes(scope)}
            onChange={({ target }) =>
              onChange(
                SCOPES.filter((one) => (one === scope ? target.checked : chosen.includes(one))),
              )
            }
          />
          {t.tokens.scopeNames[scope]}
          <span className="mono muted text-12 ml-auto">{scope}</span>
        </label>
      ))}
      {isBad && (
        <p className="err" id={`${id}-text`}>
          {errors.join(' ')}
        </p>
      )}
    </fieldset>
  )
}
