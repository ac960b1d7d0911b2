import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  completePasswordReset,
  lookUpPasswordReset,
  type PasswordResetDetails,
} from '../../api/session.ts'
import { SoloPage } from '../../shell/SoloPage.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { takeLinkCode } from '../../state/link-code.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button, buttonClass } from '../../widgets/Button.tsx'
import { FormNote, PasswordField } from '../../widgets/Field.tsx'

/** The length that is always enough. */
const PASSWORD_LENGTH = 15

/** A new password with the code of a link. */
export default function ResetPage() {
  const t = useText()
  const [code] = useState(takeLinkCode)
  const [isDone, setDone] = useState(false)
  const { data: details, error } = useQuery({
    queryKey: ['password-reset', code],
    queryFn: () => lookUpPasswordReset(code ?? ''),
    enabled: code !== undefined && !isDone,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const faults = useFaults(error)
  if (isDone) {
    return (
      <SoloPage title={t.reset.done}>
        <p className="muted" role="status">
          {t.reset.doneHint}
        </p>
        <Link to="/sign-in" className={buttonClass({ look: 'ink' })}>
          {t.signIn.title}
        </Link>
      </SoloPage>
    )
  }
  if (code === undefined || error !== null) {
    return (
      <SoloPage title={t.reset.title}>
        <FormNote text={code === undefined ? t.reset.noCode : faults.general} />
      </SoloPage>
    )
  }
  return (
    <SoloPage title={t.reset.title}>
      <p className="muted">
        {t.reset.hint} {details?.may_keep && t.reset.factorHint}
      </p>
      {details && <ResetForm code={code} details={details} onDone={() => setDone(true)} />}
    </SoloPage>
  )
}

type ResetFormProps = {
  readonly code: string
  readonly details: PasswordResetDetails
  readonly onDone: () => void
}

function ResetForm({ code, details, onDone }: ResetFormProps) {
  const t = useText()
  const [password, setPassword] = useState('')
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set())
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      completePasswordReset({
        code,
        password,
        keep_passkeys: details.passkeys.map(({ id }) => id).filter((id) => kept.has(id)),
        keep_identities: details.identities.map(({ id }) => id).filter((id) => kept.has(id)),
      }),
    onSuccess: onDone,
  })
  const faults = useFaults(error, ['password'])
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        mutate()
      }}
    >
      <FormNote text={faults.general} />
      <OtherWaysIn details={details} kept={kept} onChange={setKept} />
      <PasswordField
        label={t.reset.password}
        aside={<span className="hint">{t.reset.passwordAside}</span>}
        errors={faults.of('password')}
        lengthMin={PASSWORD_LENGTH}
        required
        autoFocus
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Button type="submit" look="ink" isBusy={isPending}>
        {t.reset.submit}
      </Button>
    </form>
  )
}

type OtherWaysInProps = {
  readonly details: PasswordResetDetails
  readonly kept: ReadonlySet<string>
  readonly onChange: (kept: ReadonlySet<string>) => void
}

/** What else signs in as the person. Only what is ticked stays. */
function OtherWaysIn({ details, kept, onChange }: OtherWaysInProps) {
  const t = useText()
  const formats = useFormats()
  const { passkeys, identities, may_keep: mayKeep } = details
  const ways = [
    ...passkeys.map(({ id, name, created_at: at }) => ({ id, at, name: t.reset.passkey(name) })),
    ...identities.map(({ id, issuer, linked_at: at }) => ({ id, at, name: issuer })),
  ]
  if (!mayKeep) {
    return (
      <div className="note warn">
        <span>{t.reset.firstProof(ways.map(({ name }) => name))}</span>
      </div>
    )
  }
  if (ways.length === 0) return null
  return (
    <fieldset className="grid gap-2">
      <legend className="lab mb-1 p-0">{t.reset.whose}</legend>
      {ways.map(({ id, name, at }) => (
        <label key={id} className="flex gap-2 items-center text-13">
          <input
            type="checkbox"
            className="cb"
            checked={kept.has(id)}
            onChange={({ target }) =>
              onChange(
                target.checked
                  ? new Set([...kept, id])
                  : new Set([...kept].filter((each) => each !== id)),
              )
            }
          />
          <span className="cut" title={name}>
            {name}
          </span>
          <span className="muted text-12 ml-auto flex-none whitespace-nowrap">
            {t.account.added(formats.day(new Date(at)))}
          </span>
        </label>
      ))}
      <p className="hint">{t.reset.whoseHint}</p>
    </fieldset>
  )
}
