import { type ReactNode, useState } from 'react'
import { hasPasskeys, PasskeyCancelled } from '../api/account.ts'
import { PasskeyIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { Field, FormNote, Input } from '../widgets/Field.tsx'
import { PasswordField } from '../widgets/PasswordField.tsx'
import { useFaults } from './use-faults.ts'
import type { SignInFlow } from './use-sign-in.ts'

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
