import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { setGates } from '../api/request.ts'
import { sessionQuery } from '../api/session.ts'
import { forgetDraftsOfOthers } from '../state/drafts.ts'
import { afterStart } from './after-start.ts'
import { SignInCancelled } from './sign-in-cancelled.ts'
import { useMembership } from './use-membership.ts'

const loadDialog = () => import('./SignInDialog.tsx')
const SignInDialog = lazy(loadDialog)

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
  useEffect(() => afterStart(loadDialog), [])
  useSamePerson()

  function end(act: (wait: Wait) => void) {
    for (const wait of waits) act(wait)
    setWaits([])
  }

  const kind = waits[0]?.kind
  if (kind === undefined) return null
  return (
    <Suspense fallback={null}>
      <SignInDialog
        kind={kind}
        onSuccess={() => end(({ resolve }) => resolve())}
        onCancel={() =>
          end(({ reject }) => reject(new SignInCancelled('The sign-in was cancelled.')))
        }
      />
    </Suspense>
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
