import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import {
  createToken,
  EXPIRIES,
  type Expiry,
  expiryOf,
  revokeToken,
  SCOPES,
  type Scope,
  type TokenResource,
  tokensQuery,
} from '../../api/tokens.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, ExpiredIcon, TokenIcon, WarningIcon } from '../../icons/index.ts'
import { ConfirmDialog, SecretDialog } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input, Select, useFaultReport } from '../../widgets/Field.tsx'
import { Ago, Day, Until, useNow } from '../../widgets/Time.tsx'
import { RowsSkeleton, Section } from '../settings/Section.tsx'

const SOON_MS = 7 * 24 * 60 * 60_000

/** The tokens of the workspace. */
export function Tokens() {
  const t = useText()
  const { data: tokens, error } = useQuery(tokensQuery)
  const [isCreating, setCreating] = useState(false)
  return (
    <Section
      title={t.tokens.title}
      hint={t.tokens.hint}
      actions={
        <Button icon={AddIcon} onClick={() => setCreating(true)}>
          {t.tokens.create}
        </Button>
      }
    >
      {tokens === undefined && error === null && <RowsSkeleton />}
      {tokens === undefined && error !== null && <LoadFailure error={error} />}
      {tokens?.length === 0 && <p className="muted">{t.tokens.none}</p>}
      {tokens !== undefined && tokens.length > 0 && (
        <ul className="rows">
          {tokens.map((token) => (
            <TokenRow key={token.id} token={token} />
          ))}
        </ul>
      )}
      {isCreating && <NewTokenDialog onClose={() => setCreating(false)} />}
    </Section>
  )
}

function TokenRow({ token }: { token: TokenResource }) {
  const t = useText()
  const formats = useFormats()
  const [isRevoking, setRevoking] = useState(false)
  const { last_used_at: usedAt, created_by: creator } = token
  const used =
    usedAt === null ? t.tokens.neverUsed : <Ago instant={new Date(usedAt)} text={t.tokens.used} />
  const scopes = formats.list(token.scopes.map((scope) => t.tokens.scopeActs[scope]))
  return (
    <li>
      <Icon of={TokenIcon} />
      <span className="who">
        <b>{token.name}</b>
        <span className="wrap">
          {scopes.slice(0, 1).toUpperCase() + scopes.slice(1)}
          {creator !== null && ` · ${t.tokens.createdBy(creator.name)}`}
        </span>
      </span>
      <span className="col">{used}</span>
      <span className="col w-28">
        <ExpiryText token={token} />
      </span>
      <Button
        size="small"
        aria-label={`${t.tokens.revoke}: ${token.name}`}
        onClick={() => setRevoking(true)}
      >
        {t.tokens.revoke}
      </Button>
      {isRevoking && (
        <ConfirmDialog
          title={t.tokens.revokeTitle(token.name)}
          text={t.tokens.revokeText}
          verb={t.tokens.revoke}
          act={() => revokeToken(token.id)}
          keys={[tokensQuery.queryKey]}
          message={t.tokens.revoked(token.name)}
          onClose={() => setRevoking(false)}
        >
          <ul className="quiet">
            <li>
              <span>{t.tokens.lastUse}</span>
              <span>{used}</span>
            </li>
          </ul>
        </ConfirmDialog>
      )}
    </li>
  )
}

function ExpiryText({ token: { expires_at: expiresAt } }: { token: TokenResource }) {
  const t = useText()
  const now = useNow()
  if (expiresAt === null) return t.tokens.noExpiry
  const end = new Date(expiresAt)
  const leftMs = end.getTime() - now.getTime()
  if (leftMs <= 0) {
    return (
      <span className="badge bad">
        <Icon of={ExpiredIcon} />
        {t.tokens.expired}
      </span>
    )
  }
  if (leftMs < SOON_MS) {
    return (
      <span className="badge warn">
        <Icon of={WarningIcon} />
        <Until instant={end} />
      </span>
    )
  }
  return <Day instant={end} />
}

/** What programs that make links need. */
const USUAL_SCOPES: readonly Scope[] = ['links:read', 'links:write']

/** Makes a token, and shows it once. */
function NewTokenDialog({ onClose }: { onClose: () => void }) {
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
      <legend className="lab mb-1 p-0">{t.tokens.scopes}</legend>
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
