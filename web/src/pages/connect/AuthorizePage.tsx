import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import {
  ASSISTANT_SCOPES,
  type AssistantPreview,
  type AssistantScope,
  type AuthorizationRequest,
  allowAssistant,
  previewAssistant,
} from '../../api/assistants.ts'
import { membershipOf } from '../../api/reads.ts'
import { type Session, sessionQuery } from '../../api/session.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ArrowRightIcon } from '../../icons/index.ts'
import { SignInGate } from '../../shell/SignInGate.tsx'
import { Brand, useTabTitle } from '../../shell/SoloPage.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { currentWorkspace } from '../../state/workspace.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Avatar } from '../../widgets/Avatar.tsx'
import { Button } from '../../widgets/Button.tsx'
import { Field, FormNote, Select } from '../../widgets/Field.tsx'
import { useNow } from '../../widgets/Time.tsx'
import './connect.css'

/** The parameters without which no answer can be sent to the program. */
const NAMED = ['client_id', 'redirect_uri']

/** Where a person decides what an assistant may do, in a browser that the assistant has opened. */
export default function AuthorizePage() {
  const t = useText()
  const asked = useSearch({ from: '/authorize' })
  const { data: session } = useSuspenseQuery(sessionQuery)
  const { data: preview, error } = useQuery({
    queryKey: ['assistant-preview', asked],
    queryFn: () => previewAssistant(asked),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const faults = useFaults(error, NAMED)
  // With the names of the parameters, untranslated: the text is for the makers of the program.
  const said = NAMED.flatMap((name) => faults.of(name).map((text) => `${name} ${text}`))
  useTabTitle(t.connect.consent.title)
  return (
    <div className="solo">
      <header>
        <Brand />
        <span className="mono">{location.host}</span>
        <span className="end asker">
          <Avatar name={session.person.name} isOwn />
          <span className="mail">{session.person.email}</span>
          <Link to="/sign-in" search={{ to: location.pathname.slice(4) + location.search }}>
            {t.connect.consent.notYou}
          </Link>
        </span>
      </header>
      <main>
        {error !== null && (
          <div className="box">
            <h1>{t.connect.consent.unusable}</h1>
            <p className="muted">{t.connect.consent.unusableText}</p>
            <FormNote text={said.join(' ') || faults.general} />
          </div>
        )}
        {preview?.refused === null && <Consent asked={asked} preview={preview} session={session} />}
        {preview !== undefined && preview.refused !== null && (
          <Refused address={preview.refused} place={preview.callback.place} />
        )}
      </main>
      <footer />
      <SignInGate />
    </div>
  )
}

/**
 * Only a click leads back to the program: anyone can write an address of this page that would send the browser to a place
 * of theirs.
 */
function Refused({ address, place }: { address: string; place: string }) {
  const words = useText().connect.consent
  const { search, hash } = new URL(address)
  // The answer to the extension is in the fragment.
  const answer = new URLSearchParams(hash.slice(1) || search)
  return (
    <div className="box">
      <h1>{words.unusable}</h1>
      <p className="muted">{words.unusableText}</p>
      <p className="mono">
        {answer.get('error')} {answer.get('error_description')}
      </p>
      <Button onClick={() => location.assign(address)}>{words.back(place)}</Button>
    </div>
  )
}

const PERIODS = [7, 30, 90, 365] as const
const USUAL_DAYS = 90
const DAY_MS = 24 * 60 * 60_000

type ConsentProps = {
  readonly asked: AuthorizationRequest
  readonly preview: AssistantPreview
  readonly session: Session
}

function Consent({ asked, preview, session }: ConsentProps) {
  const t = useText()
  const words = t.connect.consent
  const formats = useFormats()
  const now = useNow()
  const { client, callback, scopes: wanted } = preview
  const own = callback.kind === 'extension' ? t.connect.extension : undefined
  const first = membershipOf(session, currentWorkspace.value)
  const [workspaceId, setWorkspaceId] = useState(first?.workspace_id ?? '')
  const [scopes, setScopes] = useState<readonly AssistantScope[]>(
    wanted.filter((scope) => scope !== 'links:delete'),
  )
  const [days, setDays] = useState<number>(USUAL_DAYS)
  const [isDone, setDone] = useState<'allowed' | 'cancelled'>()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => allowAssistant({ request: asked, workspace_id: workspaceId, scopes, days }),
    onSuccess(address) {
      leave(address, () => setDone('allowed'))
    },
  })
  const faults = useFaults(error, ['workspace_id'])
  const workspace = session.memberships.find(({ workspace_id }) => workspace_id === workspaceId)
  if (isDone !== undefined) {
    return <div className="box">{isDone === 'allowed' ? words.done : words.cancelled}</div>
  }
  if (workspace === undefined) {
    return <div className="box">{words.noWorkspace}</div>
  }
  return (
    <form
      className="consent"
      onSubmit={(event) => {
        event.preventDefault()
        mutate()
      }}
    >
      <div className="pairing" aria-hidden="true">
        <span className="app-l">{client.name.slice(0, 1).toUpperCase()}</span>
        <Icon of={ArrowRightIcon} />
        <span>
          <Brand />
        </span>
      </div>
      <div className="grid gap-1.5">
        <h1>
          {own?.question(workspace.workspace_title) ??
            words.question(client.name, workspace.workspace_title)}
        </h1>
        <p className="muted text-13">{own?.actsAsYou ?? words.actsAsYou}</p>
      </div>
      <Field label={words.workspace} errors={faults.of('workspace_id')}>
        {(control) => (
          <Select
            {...control}
            value={workspaceId}
            onChange={({ target }) => setWorkspaceId(target.value)}
          >
            {session.memberships.map((one) => (
              <option key={one.workspace_id} value={one.workspace_id}>
                {one.workspace_title}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ScopeList wanted={wanted} chosen={scopes} onChange={setScopes} />
      <Field label={words.until}>
        {(control) => (
          <Select
            {...control}
            value={days}
            onChange={({ target }) => setDays(Number(target.value))}
          >
            {PERIODS.map((one) => (
              <option key={one} value={one}>
                {words.days(one, formats.day(new Date(now.getTime() + one * DAY_MS)))}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <FormNote text={faults.general} />
      <div className="acts2">
        <Button onClick={() => leave(preview.cancel, () => setDone('cancelled'))}>
          {t.common.cancel}
        </Button>
        <Button look="ink" type="submit" isBusy={isPending} disabled={scopes.length === 0}>
          {words.allow}
        </Button>
      </div>
      <p className="hint">
        {[
          own?.unchecked ?? words.unchecked(client.name),
          ...(URL.canParse(client.id) ? [words.published(new URL(client.id).host)] : []),
          words.answers[callback.kind](callback.place),
          words.withdrawable,
        ].join(' ')}
      </p>
    </form>
  )
}

type ScopeListProps = {
  readonly wanted: readonly AssistantScope[]
  readonly chosen: readonly AssistantScope[]
  readonly onChange: (scopes: readonly AssistantScope[]) => void
}

/** What the assistant asks for. What it does not ask for cannot be given. */
function ScopeList({ wanted, chosen, onChange }: ScopeListProps) {
  const words = useText().connect.consent
  return (
    <fieldset className="grid gap-2">
      <legend className="lab mb-1 p-0">{words.may}</legend>
      <ul className="grants">
        {ASSISTANT_SCOPES.filter((scope) => wanted.includes(scope)).map((scope) => {
          const [name, hint] = words.scopes[scope]
          return (
            <li key={scope}>
              <label>
                <input
                  type="checkbox"
                  className="cb"
                  checked={chosen.includes(scope)}
                  onChange={({ target }) =>
                    onChange(
                      wanted.filter((one) =>
                        one === scope ? target.checked : chosen.includes(one),
                      ),
                    )
                  }
                />
                <span>
                  <b>{name}</b>
                  <small>
                    {hint}
                    {scope === 'links:delete' && `. ${words.off}`}
                  </small>
                </span>
              </label>
            </li>
          )
        })}
      </ul>
      {chosen.length === 0 && <p className="hint">{words.nothing}</p>}
    </fieldset>
  )
}

/** Sends the browser to the program. Where that is an app, the page stays, and says that it is done. */
function leave(address: string, onStay: () => void): void {
  location.assign(address)
  if (!/^https?:/.test(address)) onStay()
}
