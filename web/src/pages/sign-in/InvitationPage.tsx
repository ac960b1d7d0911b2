import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { startOidcInvitation } from '../../api/account.ts'
import { ApiError } from '../../api/api-error.ts'
import { type Session, sessionQuery, signInOptionsQuery, signOut } from '../../api/session.ts'
import {
  acceptInvitation,
  type InvitationDetailsResource,
  lookUpInvitation,
} from '../../api/workspaces.ts'
import { SignInIcon } from '../../icons/index.ts'
import { SignInFields, useSignIn } from '../../shell/SignInForm.tsx'
import { SoloPage } from '../../shell/SoloPage.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { startSession } from '../../shell/use-membership.ts'
import { takeLinkCode } from '../../state/link-code.ts'
import { setCurrentWorkspace } from '../../state/workspace.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, FormNote, Input, PasswordField } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'

export default function InvitationPage() {
  const t = useText()
  const [code] = useState(takeLinkCode)
  const { data: invitation, error } = useQuery({
    queryKey: ['invitation', code],
    queryFn: () => lookUpInvitation(code ?? ''),
    enabled: code !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const faults = useFaults(error, ['code'])
  if (code === undefined || error !== null) {
    const unusable = faults.of('code').length > 0 ? t.invitation.unusable : faults.general
    return (
      <SoloPage title={t.invitation.title}>
        <FormNote text={code === undefined ? t.invitation.noCode : unusable} />
      </SoloPage>
    )
  }
  if (invitation === undefined) return <SoloPage title={t.invitation.title}>{null}</SoloPage>
  return (
    <SoloPage title={t.invitation.title} heading={t.invitation.join(invitation.workspace_title)}>
      <p className="muted">
        {t.invitation.invited(invitation.email, t.settings.roles[invitation.role])}
      </p>
      <Accept code={code} invitation={invitation} />
    </SoloPage>
  )
}

type AcceptProps = { readonly code: string; readonly invitation: InvitationDetailsResource }

function Accept({ code, invitation }: AcceptProps) {
  const t = useText()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [needed, setNeeded] = useState<'sign-in' | 'password'>()
  const [isNew, setIsNew] = useState(invitation.can_create_account)
  // No person is signed in where it fails.
  const { data: session, isPending } = useQuery({
    ...sessionQuery,
    enabled: invitation.account_exists !== false,
  })

  function askForMore(error: Error) {
    if (!(error instanceof ApiError)) return
    if (error.code === 'authentication_required') setNeeded('sign-in')
    else if (needed !== 'password' && error.fields.password !== undefined) setNeeded('password')
  }

  async function enter(joined: Session) {
    startSession(client, joined)
    const name = invitation.workspace_name
    const membership = joined.memberships.find((one) => one.workspace_name === name)
    if (membership !== undefined) setCurrentWorkspace(membership.workspace_id)
    showMessage(t.invitation.joined(name))
    await navigate({ to: '/links', replace: true })
  }

  const { account_exists, can_create_account } = invitation
  if (isPending && account_exists !== false) return null
  if (isNew && session === undefined) {
    return (
      <>
        <OidcButton code={code} />
        <NewPersonForm code={code} email={invitation.email} onJoined={enter} />
        {account_exists === null && (
          <Button onClick={() => setIsNew(false)}>{t.invitation.haveAccount}</Button>
        )}
      </>
    )
  }
  const form = { code, email: invitation.email, onJoined: enter, onRefused: askForMore }
  if (needed === 'password') return <NewPasswordForm {...form} />
  if (session === undefined || needed === 'sign-in') {
    return (
      <>
        <SignInToAccept {...form} />
        {can_create_account && <Button onClick={() => setIsNew(true)}>{t.invitation.isNew}</Button>}
        {account_exists === null && !can_create_account && (
          <p className="muted">{t.invitation.mailed(invitation.email)}</p>
        )}
      </>
    )
  }
  if (session.person.email.toLowerCase() !== invitation.email.toLowerCase()) {
    return <OtherPerson invitation={invitation} session={session} />
  }
  if (!session.person.is_email_proved) return <NewPasswordForm {...form} />
  return <AcceptButton code={code} onJoined={enter} />
}

type AcceptButtonProps = {
  readonly code: string
  readonly onJoined: (session: Session) => Promise<void>
}

function AcceptButton({ code, onJoined }: AcceptButtonProps) {
  const t = useText()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => acceptInvitation(code),
    onSuccess: onJoined,
  })
  return (
    <>
      <FormNote text={useFaults(error).general} />
      <Button look="ink" isBusy={isPending} onClick={() => mutate()}>
        {t.invitation.accept}
      </Button>
    </>
  )
}

function OtherPerson({
  invitation,
  session,
}: {
  invitation: InvitationDetailsResource
  session: Session
}) {
  const t = useText()
  const client = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: signOut,
    onSuccess: () => client.resetQueries({ queryKey: sessionQuery.queryKey }),
  })
  return (
    <>
      <div className="note warn">
        {t.invitation.otherPerson(invitation.email, session.person.email)}
      </div>
      <Button isBusy={isPending} onClick={() => mutate()}>
        {t.invitation.signOut(invitation.email)}
      </Button>
    </>
  )
}

function OidcButton({ code }: { code: string }) {
  const t = useText()
  const { data: options } = useQuery(signInOptionsQuery)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => startOidcInvitation(code),
    onSuccess: (url) => location.assign(url),
  })
  const faults = useFaults(error)
  const oidc = options?.oidc
  if (!oidc) return null
  return (
    <>
      <FormNote text={faults.general} />
      <Button icon={SignInIcon} isBusy={isPending} onClick={() => mutate()}>
        {t.signIn.oidc(oidc.name)}
      </Button>
      <div className="or">{t.signIn.orPassword}</div>
    </>
  )
}

const PASSWORD_LENGTH_MIN = 15

type NewPasswordFormProps = {
  readonly code: string
  readonly email: string
  readonly onJoined: (session: Session) => Promise<void>
  readonly onRefused: (error: Error) => void
}

/** A new password, for an account that another person may have prepared. */
function NewPasswordForm({ code, email, onJoined, onRefused }: NewPasswordFormProps) {
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
function NewPersonForm({ code, email, onJoined }: NewPersonFormProps) {
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

type SignInToAcceptProps = {
  readonly code: string
  readonly email: string
  readonly onJoined: (session: Session) => Promise<void>
  readonly onRefused: (error: Error) => void
}

/** Signs in the person of the invitation, and then accepts it. */
function SignInToAccept({ code, email, onJoined, onRefused }: SignInToAcceptProps) {
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
