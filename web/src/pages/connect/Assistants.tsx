import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { EXTENSION_ID } from '@terse/contract/extension-client'
import { useState } from 'react'
import {
  type AssistantResource,
  assistantSettingsQuery,
  assistantsQuery,
  enableAssistants,
  withdrawAssistant,
} from '../../api/assistants.ts'
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Avatar } from '../../widgets/Avatar.tsx'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { FormNote } from '../../widgets/Field.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { Ago, Day } from '../../widgets/Time.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { RowsSkeleton, Section } from '../settings/Section.tsx'

/** Where assistants connect, whether they may, and which ones do. */
export function Assistants() {
  const t = useText()
  const { data: settings, error } = useQuery(assistantSettingsQuery)
  return (
    <Section title={t.connect.assistants} hint={t.connect.assistantsHint}>
      {settings === undefined && error === null && <RowsSkeleton rows={2} />}
      {settings === undefined && error !== null && <LoadFailure error={error} />}
      {settings !== undefined && (
        <div className="grid gap-4">
          <Switch isOn={settings.enabled} />
          {settings.enabled && <Settings address={settings.address} />}
          <AllowedAssistants />
        </div>
      )}
    </Section>
  )
}

function Switch({ isOn }: { isOn: boolean }) {
  const t = useText()
  const client = useQueryClient()
  const { may } = useMembership()
  // At once: the state of the request is known a moment later.
  const [wanted, setWanted] = useState<boolean>()
  const { mutate, error } = useMutation({
    mutationFn: enableAssistants,
    onSettled: () => setWanted(undefined),
    async onSuccess({ enabled }) {
      await client.invalidateQueries({ queryKey: assistantSettingsQuery.queryKey })
      showMessage(enabled ? t.connect.on : t.connect.off)
    },
  })
  const faults = useFaults(error)
  if (!may('admin')) return isOn ? null : <p className="muted">{t.connect.off}</p>
  return (
    <>
      <label className="flex gap-2 items-center text-13">
        <input
          type="checkbox"
          className="cb"
          checked={wanted ?? isOn}
          onChange={({ target }) => {
            setWanted(target.checked)
            mutate(target.checked)
          }}
        />
        {t.connect.mayConnect}
      </label>
      <FormNote text={faults.general} />
    </>
  )
}

const KINDS = ['file', 'command', 'token'] as const
type Kind = (typeof KINDS)[number]

/** What is written into the settings of an assistant. */
const TEXTS: Readonly<Record<Kind, (address: string) => string>> = {
  file: (url) => JSON.stringify({ mcpServers: { terse: { type: 'http', url } } }, null, 2),
  command: (url) => `claude mcp add --transport http terse ${url}`,
  token: (url) => {
    const headers = { Authorization: 'Bearer terse_…' }
    return JSON.stringify({ mcpServers: { terse: { type: 'http', url, headers } } }, null, 2)
  },
}

function Settings({ address }: { address: string }) {
  const t = useText()
  const [kind, setKind] = useState<Kind>('file')
  const text = TEXTS[kind](address)
  return (
    <>
      <dl className="kv">
        <div>
          <dt>{t.connect.address}</dt>
          <dd>
            <span className="mono">{address}</span>
            <CopyButton text={address} label={t.connect.copyAddress} />
          </dd>
        </div>
      </dl>
      <div className="grid gap-2">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <SegmentedControl
            label={t.connect.kind}
            value={kind}
            choices={KINDS.map((one) => [one, t.connect.kinds[one]] as const)}
            onChange={setKind}
          />
          <span className="muted text-12">
            {kind === 'token' ? t.connect.asksNot : t.connect.asks}
          </span>
        </div>
        <div className="cmd">
          <div className="term">{text}</div>
          <CopyButton text={text} label={t.connect.copySettings} />
        </div>
      </div>
    </>
  )
}

function AllowedAssistants() {
  const t = useText()
  const { data, error } = useQuery(assistantsQuery)
  const assistants = data?.filter(({ client }) => client.id !== EXTENSION_ID)
  return (
    <div className="grid gap-1">
      <h3 className="text-13 font-medium">{t.connect.allowed}</h3>
      {assistants === undefined && error !== null && <LoadFailure error={error} />}
      {assistants?.length === 0 && <p className="muted text-13">{t.connect.none}</p>}
      <Rows assistants={assistants ?? []} />
    </div>
  )
}

/** Where people are signed in with the browser extension, by which it acts as an assistant does. */
export function AllowedExtensions() {
  const t = useText()
  const { data, error } = useQuery(assistantsQuery)
  const extensions = data?.filter(({ client }) => client.id === EXTENSION_ID) ?? []
  if (error !== null && data === undefined) return <LoadFailure error={error} />
  if (extensions.length === 0) return null
  return (
    <div className="grid gap-1">
      <h3 className="text-13 font-medium">{t.connect.extension.signedIn}</h3>
      <Rows assistants={extensions} />
    </div>
  )
}

function Rows({ assistants }: { assistants: readonly AssistantResource[] }) {
  if (assistants.length === 0) return null
  return (
    <ul className="rows">
      {assistants.map((assistant) => (
        <AssistantRow key={assistant.id} assistant={assistant} />
      ))}
    </ul>
  )
}

function AssistantRow({ assistant }: { assistant: AssistantResource }) {
  const t = useText()
  const formats = useFormats()
  const [isWithdrawing, setWithdrawing] = useState(false)
  const { client, person, scopes, last_used_at: usedAt } = assistant
  const acts = formats.list(scopes.map((scope) => t.connect.acts[scope]))
  return (
    <li>
      <Avatar name={client.name} />
      <span className="who">
        <b>{client.name}</b>
        <span className="wrap">
          {acts.slice(0, 1).toUpperCase() + acts.slice(1)} · {person.name}
        </span>
      </span>
      <span className="col">
        {usedAt === null ? (
          t.connect.neverUsed
        ) : (
          <Ago instant={new Date(usedAt)} text={t.connect.used} />
        )}
      </span>
      <span className="col w-28">
        <Day instant={new Date(assistant.expires_at)} text={t.connect.until} />
      </span>
      <Button
        size="small"
        aria-label={`${t.connect.withdraw}: ${client.name}`}
        onClick={() => setWithdrawing(true)}
      >
        {t.connect.withdraw}
      </Button>
      {isWithdrawing && (
        <ConfirmDialog
          title={t.connect.withdrawTitle(client.name)}
          text={t.connect.withdrawText}
          verb={t.connect.withdraw}
          act={() => withdrawAssistant(assistant.id)}
          keys={[assistantsQuery.queryKey]}
          message={t.connect.withdrawn(client.name)}
          onClose={() => setWithdrawing(false)}
        />
      )}
    </li>
  )
}
