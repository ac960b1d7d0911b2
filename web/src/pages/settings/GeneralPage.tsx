import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Membership, sessionQuery } from '../../api/session.ts'
import {
  changeWorkspace,
  deleteWorkspace,
  leaveWorkspace,
  type UsageResource,
  usageQuery,
} from '../../api/workspaces.ts'
import { ConfirmDialog, LeaveGuard } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useChangeWorkspace, useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, FormNote, Input } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { ConversionSettings } from './ConversionSettings.tsx'
import { RowsSkeleton, Section } from './Section.tsx'

/** The workspace itself. */
export default function GeneralPage() {
  const { membership } = useMembership()
  if (membership === undefined) return null
  return (
    <>
      <NameForm key={membership.workspace_id} membership={membership} />
      <Usage />
      <ConversionSettings key={`conversions ${membership.workspace_id}`} />
      <Endings membership={membership} />
    </>
  )
}

function NameForm({ membership }: { membership: Membership }) {
  const t = useText()
  const client = useQueryClient()
  const { may } = useMembership()
  const [title, setTitle] = useState(membership.workspace_title)
  const [name, setName] = useState(membership.workspace_name)
  const isTitleChanged = title !== membership.workspace_title
  const isNameChanged = name !== membership.workspace_name
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      changeWorkspace(membership.workspace_id, {
        ...(isTitleChanged && { title }),
        ...(isNameChanged && { name }),
      }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
      showMessage(t.workspace.renamed)
    },
  })
  const faults = useFaults(error, ['title', 'name'])
  const isChanged = isTitleChanged || isNameChanged
  const mayRename = may('admin')
  return (
    <Section title={t.settings.pages.general} isFirst>
      <form
        className="grid gap-4 max-w-[420px]"
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <LeaveGuard isOn={() => isChanged && !isPending} />
        <FormNote text={faults.general} />
        <Field
          label={t.workspace.title}
          hint={mayRename ? t.workspace.titleHint : t.settings.needsRole(t.settings.roles.admin)}
          errors={faults.of('title')}
        >
          {(control) => (
            <Input
              {...control}
              required
              readOnly={!mayRename}
              autoComplete="off"
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.workspace.name} hint={t.workspace.nameHint} errors={faults.of('name')}>
          {(control) => (
            <Input
              {...control}
              className="mono"
              required
              readOnly={!mayRename}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        {mayRename && (
          <div>
            <Button type="submit" isBusy={isPending} disabled={!isChanged}>
              {t.workspace.rename}
            </Button>
          </div>
        )}
      </form>
    </Section>
  )
}

/** What ends something: at the end of the page. */
function Endings({ membership }: { membership: Membership }) {
  const t = useText()
  const { may } = useMembership()
  const [asked, setAsked] = useState<'leave' | 'delete'>()
  const { workspace_id: id, workspace_title: name } = membership
  const client = useQueryClient()
  const navigate = useNavigate()
  const change = useChangeWorkspace()
  const formats = useFormats()
  const { data: usage } = useQuery(usageQuery)

  async function go(message: string) {
    setAsked(undefined)
    showMessage(message)
    // Before another request is sent for the workspace that was left.
    const session = await client.fetchQuery({ ...sessionQuery, staleTime: 0 })
    const [next] = session.memberships
    if (next === undefined) await navigate({ to: '/links' })
    else await change(next.workspace_id)
  }

  return (
    <Section title={t.workspace.danger}>
      <ul className="rows">
        <li>
          <span className="who">
            <b>{t.workspace.leave}</b>
            <span>{t.workspace.leaveHint}</span>
          </span>
          <Button size="small" onClick={() => setAsked('leave')}>
            {t.workspace.leave}
          </Button>
        </li>
        {may('owner') && (
          <li>
            <span className="who">
              <b>{t.workspace.delete}</b>
              <span>{t.workspace.deleteHint}</span>
            </span>
            <Button size="small" onClick={() => setAsked('delete')}>
              {t.workspace.delete}
            </Button>
          </li>
        )}
      </ul>
      {asked === 'leave' && (
        <ConfirmDialog
          title={t.workspace.leaveTitle(name)}
          text={t.workspace.leaveHint}
          verb={t.workspace.leave}
          act={() => leaveWorkspace(id)}
          onDone={() => go(t.workspace.left(name))}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked === 'delete' && (
        <ConfirmDialog
          title={t.workspace.deleteTitle(name)}
          text={t.workspace.deleteText}
          verb={t.workspace.delete}
          name={name}
          act={() => deleteWorkspace(id)}
          onDone={() => go(t.workspace.deleted(name))}
          onClose={() => setAsked(undefined)}
        >
          {usage && (
            <ul className="quiet">
              <li>
                <span>{t.workspace.links}</span>
                <span>{formats.number(usage.links.used)}</span>
              </li>
              <li>
                <span>{t.workspace.domains}</span>
                <span>{formats.number(usage.domains.used)}</span>
              </li>
            </ul>
          )}
        </ConfirmDialog>
      )}
    </Section>
  )
}

const QUOTAS = [
  'links',
  'domains',
  'pending_domains',
  'conversions',
  'storage_bytes',
  'requests_per_minute',
] as const satisfies readonly (keyof UsageResource)[]

/** What the workspace uses, of what it may use. */
function Usage() {
  const t = useText()
  const { data: usage, error } = useQuery(usageQuery)
  return (
    <Section title={t.workspace.usage} hint={t.workspace.usageHint}>
      {usage === undefined && error === null && <RowsSkeleton rows={QUOTAS.length} />}
      {usage === undefined && error !== null && <LoadFailure error={error} />}
      {usage && (
        <ul className="rows nw">
          {QUOTAS.map((quota) => (
            <Quota key={quota} quota={quota} {...usage[quota]} />
          ))}
        </ul>
      )}
    </Section>
  )
}

type QuotaProps = {
  readonly quota: (typeof QUOTAS)[number]
  readonly used: number
  readonly limit: number | null
}

function Quota({ quota, used, limit }: QuotaProps) {
  const t = useText()
  const formats = useFormats()
  const format = quota === 'storage_bytes' ? formats.bytes : formats.number
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit)
  return (
    <li>
      <span className="who">
        <b>{t.workspace.quotas[quota]}</b>
        {limit !== null && (
          <span className="share" aria-hidden>
            <i style={{ width: `${share * 100}%` }} className={share >= 0.9 ? 'high' : ''} />
          </span>
        )}
      </span>
      <span className="ml-auto pr-2 text-text-2">
        {limit === null ? format(used) : t.workspace.of(format(used), format(limit))}
      </span>
    </li>
  )
}
