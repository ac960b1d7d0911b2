import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { hasPasskeys, oidcStartPath } from '../api/account.ts'
import { setGates } from '../api/request.ts'
import { type Session, sessionQuery, signInOptionsQuery } from '../api/session.ts'
import { ExternalIcon, PasskeyIcon } from '../icons/index.ts'
import { forgetDraftsOfOthers } from '../state/drafts.ts'
import { useText } from '../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../widgets/Button.tsx'
import { FormDialog } from '../widgets/Dialog.tsx'
import { SignInFields, type SignInFlow, useSignIn } from './SignInForm.tsx'
import { SignInCancelled } from './use-faults.ts'
import { useMembership } from './use-membership.ts'

type Kind = 'sign in' | 'authenticate'
type Wait = {
  readonly kind: Kind
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/**
 * Asks for a sign-in over the page when a session has ended or is too old, and then lets the requests go
 * on that were refused. What was typed in the page stays.
 */
export function SignInGate() {
  const [waits, setWaits] = useState<readonly Wait[]>([])
  useEffect(() => {
    const wait = (kind: Kind) =>
      new Promise<void>((resolve, reject) => {
        setWaits((others) => [...others, { kind, resolve, reject }])
      })
    setGates({ signIn: () => wait('sign in'), authenticate: () => wait('authenticate') })
    return () => setGates(undefined)
  }, [])
  useSamePerson()

  function end(act: (wait: Wait) => void) {
    for (const wait of waits) act(wait)
    setWaits([])
  }

  const kind = waits[0]?.kind
  if (kind === undefined) return null
  return (
    <SignInDialog
      kind={kind}
      onSuccess={() => end(({ resolve }) => resolve())}
      onCancel={() =>
        end(({ reject }) => reject(new SignInCancelled('The sign-in was cancelled.')))
      }
    />
  )
}

/** Begins again where another person has signed in meanwhile, in another tab: they would send what this one has typed. */
function useSamePerson(): void {
  const client = useQueryClient()
  const { person } = useMembership().session
  const [personId] = useState(person.id)
  useEffect(() => forgetDraftsOfOthers(personId), [personId])
  useEffect(() => {
    async function look() {
      const session = await client.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => {})
      if (session && session.person.id !== personId) location.reload()
    }
    addEventListener('focus', look)
    return () => removeEventListener('focus', look)
  }, [client, personId])
}

type SignInDialogProps = {
  /** `authenticate`: the session goes on, but is too old for what was asked. */
  readonly kind: 'sign in' | 'authenticate'
  readonly onSuccess: () => void
  readonly onCancel: () => void
}

function SignInDialog({ kind, onSuccess, onCancel }: SignInDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const { person } = useMembership().session
  const isEnded = kind === 'sign in'

  function goOn(session: Session) {
    // Another person must not send what the previous one has typed: the page begins again, without an answer to what waits.
    if (session.person.id !== person.id) {
      location.reload()
      return
    }
    client.setQueryData(sessionQuery.queryKey, session)
    onSuccess()
  }

  const flow = useSignIn(kind, person.email, goOn)
  useSignInElsewhere(goOn)
  return (
    <FormDialog
      title={isEnded ? t.signIn.title : t.signIn.confirm}
      description={isEnded ? t.signIn.expired : t.signIn.confirmHint}
      onClose={onCancel}
      onSubmit={flow.submit}
      verb={isEnded ? t.signIn.submit : t.signIn.continue}
      isBusy={flow.isBusy}
    >
      {/* Password managers see whose password it is. */}
      <input type="email" autoComplete="username" value={person.email} readOnly hidden />
      <SignInFields flow={flow} />
      {flow.step === 'password' && <OtherWays flow={flow} />}
    </FormDialog>
  )
}

function OtherWays({ flow }: { flow: SignInFlow }) {
  const t = useText()
  const { data: options } = useQuery(signInOptionsQuery)
  const oidc = options?.oidc ?? undefined
  if (!hasPasskeys && oidc === undefined) return null
  return (
    <>
      <div className="or">{t.signIn.or}</div>
      {hasPasskeys && (
        <Button icon={PasskeyIcon} onClick={flow.usePasskey}>
          {t.signIn.passkey}
        </Button>
      )}
      {oidc && (
        <>
          <a
            className={buttonClass({})}
            href={oidcStartPath('/app/links')}
            target="_blank"
            rel="noreferrer"
          >
            <ButtonContent icon={ExternalIcon}>{t.signIn.oidc(oidc.name)}</ButtonContent>
          </a>
          <p className="hint">{t.signIn.elsewhere}</p>
        </>
      )}
    </>
  )
}

/** Goes on when the person comes back after a sign-in in another tab. */
function useSignInElsewhere(goOn: (session: Session) => void): void {
  const client = useQueryClient()
  const [before] = useState(() => client.getQueryData(sessionQuery.queryKey))
  useEffect(() => {
    async function look() {
      const session = await client.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => {})
      if (!session) return
      // For another person the gate begins again: twice, the browser would ask twice, and do neither.
      if (session.person.id !== before?.person.id) return
      const { id, authenticated_at: at } = session
      if (id !== before?.id || at !== before.authenticated_at) goOn(session)
    }
    addEventListener('focus', look)
    return () => removeEventListener('focus', look)
  })
}
