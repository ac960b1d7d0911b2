import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  askForPasskey,
  hasPasskeys,
  type PasskeyAssertionInput,
  PasskeyCancelled,
} from '../api/account.ts'
import { ApiError } from '../api/api-error.ts'
import {
  authenticate,
  type Credentials,
  type Session,
  signIn,
  signInOptionsQuery,
} from '../api/session.ts'
import { Icon } from '../icons/Icon.tsx'
import { ExternalIcon, PasskeyIcon, WarningIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../widgets/Button.tsx'
import { Field, FormNote, Input, PasswordField } from '../widgets/Field.tsx'
import { useFaults } from './use-faults.ts'

type SignInFieldsProps = {
  readonly flow: SignInFlow
  /** Right of the password's label. */
  readonly passwordAside?: ReactNode
}

/** The fields of the step that the sign-in has reached. */
export function SignInFields({ flow, passwordAside }: SignInFieldsProps) {
  return flow.step === 'password' ? (
    <PasswordStep flow={flow} passwordAside={passwordAside} />
  ) : (
    <FactorStep flow={flow} />
  )
}

function PasswordStep({ flow, passwordAside }: SignInFieldsProps) {
  const t = useText()
  const faults = useFaults(flow.error, ['email', 'password'])
  const isCancelled = flow.error instanceof PasskeyCancelled
  const general = isCancelled ? [] : [faults.general].filter((text) => text !== undefined)
  return (
    <>
      {isCancelled && <FormNote text={t.signIn.passkeyCancelled} />}
      {flow.asksEmail && (
        <Field label={t.signIn.email} errors={faults.of('email')}>
          {(control) => (
            <Input
              {...control}
              name="email"
              type="email"
              autoComplete="username webauthn"
              required
              autoFocus
              value={flow.email}
              onChange={(event) => flow.setEmail(event.target.value)}
            />
          )}
        </Field>
      )}
      <PasswordField
        label={t.signIn.password}
        aside={passwordAside}
        errors={[...faults.of('password'), ...general]}
        name="password"
        autoComplete="current-password"
        required
        autoFocus={!flow.asksEmail}
        value={flow.password}
        onChange={flow.setPassword}
      />
    </>
  )
}

function FactorStep({ flow }: { flow: SignInFlow }) {
  const t = useText()
  const [isRecovery, setRecovery] = useState(false)
  const faults = useFaults(flow.error, ['code'])
  const isCancelled = flow.error instanceof PasskeyCancelled
  const hasPasskey = hasPasskeys && flow.factors.includes('passkey')
  return (
    <>
      <p className="muted">{t.signIn.secondFactorHint}</p>
      <FormNote text={isCancelled ? t.signIn.passkeyCancelled : faults.general} />
      {flow.factors.includes('code') && (
        <Field
          label={isRecovery ? t.signIn.recoveryCode : t.signIn.code}
          aside={
            <button
              type="button"
              className="link text-12"
              onClick={() => {
                flow.setCode('')
                setRecovery(!isRecovery)
              }}
            >
              {isRecovery ? t.signIn.useApp : t.signIn.useRecoveryCode}
            </button>
          }
          hint={isRecovery ? t.signIn.recoveryCodeHint : t.signIn.codeHint}
          errors={faults.of('code')}
        >
          {(control) => (
            <Input
              {...control}
              // Another field for the browser, which suggests codes of the app only for the first.
              key={String(isRecovery)}
              className="mono"
              autoComplete={isRecovery ? 'off' : 'one-time-code'}
              inputMode={isRecovery ? 'text' : 'numeric'}
              spellCheck={false}
              required
              autoFocus
              value={flow.code}
              onChange={(event) => flow.setCode(event.target.value)}
            />
          )}
        </Field>
      )}
      {hasPasskey && (
        <Button
          icon={PasskeyIcon}
          onClick={flow.usePasskey}
          autoFocus={!flow.factors.includes('code')}
        >
          {t.signIn.usePasskey}
        </Button>
      )}
    </>
  )
}

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

/** As it was opened: the code behind `#` is taken out of the address bar. */
const opened = { pathname: location.pathname, hash: location.hash }

/**
 * What belongs to a sign-in, unless the page was opened at another address than the service has: over HTTP browsers
 * do not say where a request comes from, so each would be refused. Over HTTPS and on this machine it works, beside a note.
 */
export function AtServiceAddress({ children }: { children: ReactNode }) {
  const { data: options } = useQuery(signInOptionsQuery)
  const isOther = options !== undefined && new URL(options.base_url).origin !== location.origin
  // The development server is always at another one.
  if (!isOther || import.meta.env.DEV) return children
  return (
    <>
      <OtherAddress baseUrl={options.base_url} />
      {isSecureContext && children}
    </>
  )
}

function OtherAddress({ baseUrl }: { baseUrl: string }) {
  const t = useText()
  const { pathname, search } = location
  const hash = pathname === opened.pathname ? opened.hash : ''
  return (
    <div className="grid gap-4" role="alert">
      <div className="note warn">
        <Icon of={WarningIcon} />
        <div className="grid gap-2 break-anywhere">
          <p>{t.signIn.otherAddress(location.origin, baseUrl)}</p>
          <p>{t.signIn.changeAddress(location.origin)}</p>
        </div>
      </div>
      <a href={`${baseUrl}${pathname}${search}${hash}`} className={buttonClass({ look: 'ink' })}>
        <ButtonContent icon={ExternalIcon}>{t.signIn.toAddress(baseUrl)}</ButtonContent>
      </a>
    </div>
  )
}
