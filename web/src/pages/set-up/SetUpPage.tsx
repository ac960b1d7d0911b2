import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { setUp, signInOptionsQuery } from '../../api/session.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CheckIcon, ShieldIcon } from '../../icons/index.ts'
import { AtServiceAddress } from '../../shell/SignInForm.tsx'
import { Brand, SoloPage, ThemeSwitch, useTabTitle } from '../../shell/SoloPage.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { startSession } from '../../shell/use-membership.ts'
import { codeOf, takeLinkCode } from '../../state/link-code.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Field, FormNote, Input, PasswordField } from '../../widgets/Field.tsx'

const PASSWORD_LENGTH_MIN = 15

/** Makes the first person, who operates the instance. */
export default function SetUpPage() {
  const t = useText()
  useTabTitle(t.setUp.title)
  const { data: options } = useQuery(signInOptionsQuery)
  if (options !== undefined && !options.setup_required) return <AlreadySetUp />
  return (
    <div className="split">
      <div className="l">
        <header>
          <Brand />
        </header>
        <main>
          <div className="grid gap-1">
            <h1 className="h">{t.setUp.title}</h1>
            <p className="muted">{t.setUp.hint}</p>
          </div>
          <AtServiceAddress>
            <SetUpForm />
          </AtServiceAddress>
        </main>
        <footer className="flex">
          <ThemeSwitch />
        </footer>
      </div>
      <WhereIsTheCode />
    </div>
  )
}

function AlreadySetUp() {
  const t = useText()
  return (
    <SoloPage title={t.setUp.title}>
      <p className="muted">{t.setUp.done}</p>
      <Link to="/sign-in" className="link">
        {t.signIn.title}
      </Link>
    </SoloPage>
  )
}

function SetUpForm() {
  const t = useText()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [codeOfLink] = useState(takeLinkCode)
  const [code, setCode] = useState(codeOfLink ?? '')
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: setUp,
    async onSuccess(session) {
      startSession(client, session)
      await navigate({ to: '/first-link', replace: true })
      client.removeQueries({ queryKey: signInOptionsQuery.queryKey })
    },
  })
  const faults = useFaults(error, ['code', 'name', 'email', 'password'])
  const isFromLink = code !== '' && code === codeOfLink
  return (
    <form
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        mutate({ code: code.trim(), name, email, password })
      }}
    >
      <FormNote text={faults.general} />
      <Field
        label={t.setUp.code}
        hint={isFromLink ? <TakenFromLink /> : t.setUp.codeHint}
        errors={faults.of('code')}
      >
        {(control) => (
          <Input
            {...control}
            className="mono"
            required
            autoFocus={codeOfLink === undefined}
            autoComplete="off"
            spellCheck={false}
            value={code}
            onChange={(event) => setCode(codeOf(event.target.value) ?? event.target.value)}
          />
        )}
      </Field>
      <Field label={t.setUp.name} errors={faults.of('name')}>
        {(control) => (
          <Input
            {...control}
            required
            autoFocus={codeOfLink !== undefined}
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field label={t.setUp.email} errors={faults.of('email')}>
        {(control) => (
          <Input
            {...control}
            required
            type="email"
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <PasswordField
        label={t.setUp.password}
        aside={<span className="hint">{t.setUp.passwordAside}</span>}
        errors={faults.of('password')}
        lengthMin={PASSWORD_LENGTH_MIN}
        required
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Button type="submit" look="ink" size="large" isBusy={isPending}>
        {t.setUp.submit}
      </Button>
      <p className="hint">{t.setUp.later}</p>
    </form>
  )
}

function TakenFromLink() {
  const t = useText()
  return (
    <span className="good">
      <Icon of={CheckIcon} />
      {t.setUp.codeFromLink}
    </span>
  )
}

const COMMAND = 'npx terse setup'

/** Where the link of the set-up was printed, and how to print another. */
function WhereIsTheCode() {
  const t = useText()
  return (
    <aside className="r" aria-labelledby="where">
      <div className="grid gap-4 w-full max-w-[520px] mx-auto">
        <div className="grid gap-1">
          <h2 className="sec-h" id="where">
            {t.setUp.where}
          </h2>
          <p className="muted">{t.setUp.whereHint}</p>
        </div>
        <div className="term" role="img" aria-label={t.setUp.terminal}>
          <span className="dim">$</span> npm start{'\n\n'}
          <span className="ac">{t.setUp.running}</span> {t.setUp.runningAt} {location.origin}
          {'\n\n'}
          {t.setUp.nobody}
          {'\n\n  '}
          {location.origin}/app/setup#code=<span className="hi">{t.setUp.yourCode}</span>
        </div>
        <p className="muted">{t.setUp.lost}</p>
        <div className="cmd">
          <div className="term">
            <span className="dim">$</span> {COMMAND}
          </div>
          <CopyButton text={COMMAND} label={t.setUp.copyCommand} />
        </div>
        <div className="note">
          <Icon of={ShieldIcon} />
          <span>{t.setUp.note}</span>
        </div>
      </div>
    </aside>
  )
}
