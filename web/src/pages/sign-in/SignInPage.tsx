import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import {
  askForPasskey,
  canSuggestPasskeys,
  hasPasskeys,
  oidcStartPath,
  stopAskingForPasskey,
} from '../../api/account.ts'
import { requestPasswordReset, signInOptionsQuery } from '../../api/session.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CheckIcon, PasskeyIcon, SignInIcon } from '../../icons/index.ts'
import { SignInFields, type SignInFlow, useSignIn } from '../../shell/SignInForm.tsx'
import { SoloPage } from '../../shell/SoloPage.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { startSession } from '../../shell/use-membership.ts'
import { lastSignIn, usePreference } from '../../state/preference.ts'
import { useText } from '../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Field, FormNote, Input } from '../../widgets/Field.tsx'

/** Shorter than the five minutes for which a challenge is valid. */
const SUGGESTION_MS = 4 * 60_000

const route = getRouteApi('/sign-in')

export default function SignInPage() {
  const t = useText()
  const { to, error } = route.useSearch()
  const router = useRouter()
  const client = useQueryClient()
  const [isForgotten, setForgotten] = useState(false)
  const { data: options } = useQuery(signInOptionsQuery)
  // Only paths of this dashboard: the address bar is not to be trusted.
  const path = to?.startsWith('/') && !/^\/[/\\]/.test(to) ? to : '/links'
  const flow = useSignIn('sign in', undefined, (session) => {
    startSession(client, session)
    lastSignIn.set(flow.password === '' ? 'passkey' : null)
    router.history.replace(`/app${path}`)
  })
  const failure = t.signIn.failures[error as keyof typeof t.signIn.failures]
  if (isForgotten) {
    return (
      <ForgottenPassword
        email={flow.email}
        sendsMail={options?.mail ?? false}
        onBack={() => setForgotten(false)}
      />
    )
  }
  return (
    <SoloPage
      title={t.signIn.title}
      heading={flow.step === 'factor' ? t.signIn.secondFactor : t.signIn.title}
      footer={t.signIn.noAccount}
    >
      <FormNote text={failure} />
      {options?.setup_required && <SetUpNote />}
      {flow.step === 'password' && (
        <Ways flow={flow} oidcName={options?.oidc?.name} returnTo={`/app${path}`} />
      )}
      <SignInForm flow={flow} onForgotten={() => setForgotten(true)} />
      {flow.step === 'factor' && (
        <button type="button" className="link text-13" onClick={flow.restart}>
          {t.common.back}
        </button>
      )}
    </SoloPage>
  )
}

function SetUpNote() {
  const t = useText()
  return (
    <div className="note">
      <Link to="/setup" className="link">
        {t.setUp.title}
      </Link>
    </div>
  )
}

type WaysProps = {
  readonly flow: SignInFlow
  readonly oidcName: string | undefined
  readonly returnTo: string
}

/** Ways without a password. */
function Ways({ flow, oidcName, returnTo }: WaysProps) {
  const t = useText()
  const last = usePreference(lastSignIn)
  if (!hasPasskeys && oidcName === undefined) return null
  return (
    <>
      <div className="grid gap-2">
        {hasPasskeys && (
          <Button
            icon={PasskeyIcon}
            look={last === 'passkey' ? 'ink' : 'outlined'}
            onClick={flow.usePasskey}
          >
            {t.signIn.passkey}
          </Button>
        )}
        {oidcName !== undefined && (
          <a
            className={buttonClass({ look: last === 'oidc' ? 'ink' : 'outlined' })}
            href={oidcStartPath(returnTo)}
            onClick={() => lastSignIn.set('oidc')}
          >
            <ButtonContent icon={SignInIcon}>{t.signIn.oidc(oidcName)}</ButtonContent>
          </a>
        )}
      </div>
      <div className="or">{t.signIn.orPassword}</div>
    </>
  )
}

function SignInForm({ flow, onForgotten }: { flow: SignInFlow; onForgotten: () => void }) {
  const t = useText()
  const isFirst = usePreference(lastSignIn) === 'password' || flow.step === 'factor'
  useSuggestion(flow)
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        flow.submit()
      }}
    >
      <SignInFields
        flow={flow}
        passwordAside={
          <button type="button" className="link text-12" onClick={onForgotten}>
            {t.signIn.forgot}
          </button>
        }
      />
      {(flow.step === 'password' || flow.factors.includes('code')) && (
        <Button type="submit" look={isFirst ? 'ink' : 'outlined'} isBusy={flow.isBusy}>
          {t.signIn.submit}
        </Button>
      )}
    </form>
  )
}

/** Lets the browser suggest passkeys in the e-mail field, where it can. */
function useSuggestion(flow: SignInFlow): void {
  const isOn = flow.step === 'password'
  const take = useEffectEvent(flow.takePasskey)
  useEffect(() => {
    if (!isOn) return
    let isOver = false
    async function suggest() {
      try {
        if (!(await canSuggestPasskeys()) || isOver) return
        const passkey = await askForPasskey(true)
        if (!isOver) take(passkey)
      } catch {
        // Nothing was chosen; the form is there.
      }
    }
    void suggest()
    const timer = setInterval(suggest, SUGGESTION_MS)
    return () => {
      isOver = true
      clearInterval(timer)
      void stopAskingForPasskey()
    }
  }, [isOn])
}

type ForgottenPasswordProps = {
  readonly email: string
  readonly sendsMail: boolean
  readonly onBack: () => void
}

function ForgottenPassword({ email, sendsMail, onBack }: ForgottenPasswordProps) {
  const t = useText()
  return (
    <SoloPage title={t.signIn.forgotTitle}>
      {sendsMail ? <RequestForm email={email} /> : <AskSomebody email={email} />}
      <button type="button" className="link text-13" onClick={onBack}>
        {t.common.back}
      </button>
    </SoloPage>
  )
}

function RequestForm({ email }: { email: string }) {
  const t = useText()
  const [typed, setTyped] = useState(email)
  const { mutate, isPending, isSuccess, error } = useMutation({ mutationFn: requestPasswordReset })
  const faults = useFaults(error, ['email'])
  if (isSuccess) {
    return (
      <div className="note" role="status">
        <Icon of={CheckIcon} />
        <span>{t.signIn.forgotSent}</span>
      </div>
    )
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        mutate(typed)
      }}
    >
      <p className="muted">{t.signIn.forgotHint}</p>
      <FormNote text={faults.general} />
      <Field label={t.signIn.email} errors={faults.of('email')}>
        {(control) => (
          <Input
            {...control}
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="ink" isBusy={isPending}>
        {t.signIn.forgotSubmit}
      </Button>
    </form>
  )
}

function AskSomebody({ email }: { email: string }) {
  const t = useText()
  const command = `npx terse person reset ${email === '' ? 'you@example.com' : email}`
  return (
    <div className="grid gap-4">
      <p className="muted">{t.signIn.forgotNoMail}</p>
      <div className="cmd">
        <pre className="term">{command}</pre>
        <CopyButton text={command} label={t.setUp.copyCommand} />
      </div>
    </div>
  )
}
