import { useMutation } from '@tanstack/react-query'
import { acceptInvitation } from '../../api/members.ts'
import type { Session } from '../../api/session.ts'
import { SignInFields } from '../../shell/SignInForm.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useSignIn } from '../../shell/use-sign-in.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { FormNote } from '../../widgets/FormNote.tsx'

type SignInToAcceptProps = {
  readonly code: string
  readonly email: string
  readonly onJoined: (session: Session) => Promise<void>
  readonly onRefused: (error: Error) => void
}

/** Signs in the person of the invitation, and then accepts it. */
export function SignInToAccept({ code, email, onJoined, onRefused }: SignInToAcceptProps) {
  const t = useText()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => acceptInvitation(code),
    onSuccess: onJoined,
    onError: onRefused,
  })
  const faults = useFaults(error)
  const flow = useSignIn('sign in', email, () => mutate())
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        flow.submit()
      }}
    >
      <p>{t.invitation.signInAs(email)}</p>
      <FormNote text={faults.general} />
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <SignInFields flow={flow} />
      <Button type="submit" look="ink" isBusy={flow.isBusy || isPending}>
        {t.invitation.accept}
      </Button>
    </form>
  )
}
