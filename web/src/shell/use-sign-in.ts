import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { askForPasskey, type PasskeyAssertionInput } from '../api/account.ts'
import { ApiError } from '../api/api-error.ts'
import { authenticate, type Credentials, type Session, signIn } from '../api/session.ts'

export type SignInFlow = {
  /** `factor`: the password was right, and the person has a second factor. */
  readonly step: 'password' | 'factor'
  /** Whether the e-mail is asked for. */
  readonly asksEmail: boolean
  readonly email: string
  readonly password: string
  readonly code: string
  setEmail(value: string): void
  setPassword(value: string): void
  setCode(value: string): void
  /** The second factors that the person has. */
  readonly factors: readonly string[]
  /** Sends what was typed. */
  submit(): void
  /** Asks the browser for a passkey, alone or as the second factor. */
  usePasskey(): void
  /** Signs in with a passkey that the browser has suggested. */
  takePasskey(passkey: PasskeyAssertionInput): void
  /** Back to the password. */
  restart(): void
  readonly isBusy: boolean
  readonly error: Error | null
}

/**
 * A sign-in: e-mail and password, then a second factor where the person has one; or a passkey alone.
 *
 * @param email fixed where it is known who signs in; undefined to ask for it
 */
export function useSignIn(
  kind: 'sign in' | 'authenticate',
  email: string | undefined,
  onSuccess: (session: Session) => void,
): SignInFlow {
  const [typedEmail, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [factors, setFactors] = useState<readonly string[]>([])
  const step = factors.length > 0 ? 'factor' : 'password'
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async (make: () => Credentials | Promise<Credentials>) => {
      const { email: whose, ...proof } = await make()
      if (kind === 'authenticate') return authenticate(proof)
      return signIn({ ...(whose !== undefined && { email: whose }), ...proof })
    },
    onSuccess,
    onError(failure) {
      if (failure instanceof ApiError && failure.code === 'second_factor_required') {
        // A wrong code names only itself.
        setFactors((others) => [...new Set([...others, ...Object.keys(failure.fields)])])
      }
    },
  })
  const first = { email: email ?? typedEmail, password }
  return {
    step,
    asksEmail: email === undefined,
    email: email ?? typedEmail,
    password,
    code,
    setEmail,
    setPassword,
    setCode,
    factors,
    submit: () => mutate(() => (step === 'password' ? first : { ...first, code: code.trim() })),
    usePasskey: () =>
      mutate(async () => {
        const passkey = await askForPasskey()
        return step === 'password' ? { passkey } : { ...first, passkey }
      }),
    takePasskey: (passkey) => mutate(() => ({ passkey })),
    restart() {
      setFactors([])
      setCode('')
      reset()
    },
    isBusy: isPending,
    error: isDemand(error) ? null : error,
  }
}

/** The first demand for a second factor is no error: nothing was sent yet. */
function isDemand(error: Error | null): boolean {
  return (
    error instanceof ApiError &&
    error.code === 'second_factor_required' &&
    Object.values(error.fields)
      .flat()
      .every(({ code }) => code === 'required')
  )
}
