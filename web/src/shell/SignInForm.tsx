import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { authenticate, type Credentials, type Session, signIn } from '../api/session.ts'
import { useText } from '../text/use-text.ts'
import { Field, Input } from '../widgets/Field.tsx'

type SignInState = {
  readonly submit: () => void
  readonly isBusy: boolean
  readonly fields: React.ReactNode
}

/**
 * The fields of a sign-in: e-mail and password, then a code where the person has a second factor.
 *
 * @param email fixed where the same person signs in again; undefined to ask for it
 */
export function useSignIn(
  kind: 'sign in' | 'authenticate',
  email: string | undefined,
  onSuccess: (session: Session) => void,
): SignInState {
  const [typedEmail, setEmail] = useState(email ?? '')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const { mutate, isPending, error } = useMutation({
    mutationFn: (credentials: Credentials) => {
      const { email: _, ...rest } = credentials
      return kind === 'sign in' ? signIn(credentials) : authenticate(rest)
    },
    onSuccess,
    onError(failure) {
      if (failure instanceof ApiError && failure.code === 'second_factor_required')
        setNeedsCode(true)
    },
  })
  const credentials = { email: typedEmail, password, ...(needsCode && { code }) }
  return {
    submit: () => mutate(credentials),
    isBusy: isPending,
    fields: (
      <SignInFields
        error={error}
        hasEmail={kind === 'sign in'}
        needsCode={needsCode}
        values={{ email: typedEmail, password, code }}
        onEmail={setEmail}
        onPassword={setPassword}
        onCode={setCode}
      />
    ),
  }
}

type SignInFieldsProps = {
  readonly error: Error | null
  readonly hasEmail: boolean
  readonly needsCode: boolean
  readonly values: { readonly email: string; readonly password: string; readonly code: string }
  readonly onEmail: (value: string) => void
  readonly onPassword: (value: string) => void
  readonly onCode: (value: string) => void
}

function SignInFields(props: SignInFieldsProps) {
  const { error, hasEmail, needsCode, values, onEmail, onPassword, onCode } = props
  const t = useText()
  const message =
    error === null || (error instanceof ApiError && error.code === 'second_factor_required')
      ? []
      : [error.message]
  return (
    <>
      {hasEmail && (
        <Field label={t.signIn.email}>
          {(control) => (
            <Input
              {...control}
              type="email"
              autoComplete="username"
              required
              value={values.email}
              onChange={(event) => onEmail(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label={t.signIn.password} errors={needsCode ? [] : message}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="current-password"
            required
            value={values.password}
            onChange={(event) => onPassword(event.target.value)}
          />
        )}
      </Field>
      {needsCode && (
        <Field label={t.signIn.code} hint={t.signIn.codeHint} errors={message}>
          {(control) => (
            <Input
              {...control}
              autoComplete="one-time-code"
              // It appears because it is needed next.
              autoFocus
              value={values.code}
              onChange={(event) => onCode(event.target.value)}
            />
          )}
        </Field>
      )}
    </>
  )
}
