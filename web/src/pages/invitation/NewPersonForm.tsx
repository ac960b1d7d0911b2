import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { acceptInvitation } from '../../api/members.ts'
import type { Session } from '../../api/session.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { FormNote } from '../../widgets/FormNote.tsx'
import { PasswordField } from '../../widgets/PasswordField.tsx'

const PASSWORD_LENGTH_MIN = 15

type NewPasswordFormProps = {
  readonly code: string
  readonly email: string
  readonly onJoined: (session: Session) => Promise<void>
  readonly onRefused: (error: Error) => void
}

/** A new password, for an account that somebody else may have prepared. */
export function NewPasswordForm({ code, email, onJoined, onRefused }: NewPasswordFormProps) {
  const t = useText()
  const [password, setPassword] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => acceptInvitation(code, { password }),
    onSuccess: onJoined,
    onError: onRefused,
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
      <p>{t.invitation.unproved(email)}</p>
      <FormNote text={faults.general} />
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        label={t.invitation.password}
        aside={<span className="hint">{t.setUp.passwordAside}</span>}
        errors={faults.of('password')}
        lengthMin={PASSWORD_LENGTH_MIN}
        required
        autoFocus
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Button type="submit" look="ink" isBusy={isPending}>
        {t.invitation.accept}
      </Button>
    </form>
  )
}

type NewPersonFormProps = {
  readonly code: string
  readonly email: string
  readonly onJoined: (session: Session) => Promise<void>
}

/** An account for the address of the invitation. */
export function NewPersonForm({ code, email, onJoined }: NewPersonFormProps) {
  const t = useText()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => acceptInvitation(code, { name, password }),
    onSuccess: onJoined,
  })
  const faults = useFaults(error, ['name', 'password'])
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        mutate()
      }}
    >
      <FormNote text={faults.general} />
      {/* Password managers see whose password it is. */}
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.invitation.name} errors={faults.of('name')}>
        {(control) => (
          <Input
            {...control}
            required
            autoFocus
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <PasswordField
        label={t.invitation.password}
        aside={<span className="hint">{t.setUp.passwordAside}</span>}
        errors={faults.of('password')}
        lengthMin={PASSWORD_LENGTH_MIN}
        required
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Button type="submit" look="ink" isBusy={isPending}>
        {t.invitation.create}
      </Button>
    </form>
  )
}
