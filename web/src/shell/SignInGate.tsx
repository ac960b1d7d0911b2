import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { setGates } from '../api/request.ts'
import { type Session, sessionQuery } from '../api/session.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { Dialog } from '../widgets/Dialog.tsx'
import { useSignIn } from './SignInForm.tsx'
import { useMembership } from './use-membership.ts'

type Kind = 'sign in' | 'authenticate'
type Wait = {
  readonly kind: Kind
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Thrown to a request whose dialog was closed. */
class SignInCancelled extends Error {}

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

type SignInDialogProps = {
  readonly kind: Kind
  readonly onSuccess: () => void
  readonly onCancel: () => void
}

function SignInDialog({ kind, onSuccess, onCancel }: SignInDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const { person } = useMembership().session
  const isEnded = kind === 'sign in'
  const { submit, isBusy, fields } = useSignIn(kind, person.email, (session: Session) => {
    // Somebody else must not go on with what the person before has typed.
    if (session.person.id !== person.id) location.reload()
    client.setQueryData(sessionQuery.queryKey, session)
    onSuccess()
  })
  return (
    <Dialog
      isOpen
      isFirm
      title={isEnded ? t.signIn.title : t.signIn.confirm}
      description={isEnded ? t.signIn.expired : t.signIn.confirmHint}
      onClose={onCancel}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onCancel}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isBusy}>
            {isEnded ? t.signIn.submit : t.signIn.continue}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 pt-2">{fields}</div>
    </Dialog>
  )
}
