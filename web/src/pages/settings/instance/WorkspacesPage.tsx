import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '../../../api/session.ts'
import {
  createWorkspace,
  type WorkspaceResource,
  workspacesQuery,
} from '../../../api/workspaces.ts'
import { AddIcon } from '../../../icons/index.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import { useChangeWorkspace } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { FormDialog } from '../../../widgets/Dialog.tsx'
import { Field, Input } from '../../../widgets/Field.tsx'
import { Ago } from '../../../widgets/Time.tsx'
import { showMessage } from '../../../widgets/Toasts.tsx'
import { RowsSkeleton, Section } from '../Section.tsx'

/** All workspaces of the instance, for operators. */
export default function WorkspacesPage() {
  const t = useText()
  const { data: workspaces, error } = useQuery(workspacesQuery)
  const [isCreating, setCreating] = useState(false)
  return (
    <Section
      title={t.instance.workspaces}
      hint={t.instance.workspacesHint}
      isFirst
      actions={
        <Button icon={AddIcon} onClick={() => setCreating(true)}>
          {t.instance.createWorkspace}
        </Button>
      }
    >
      {workspaces === undefined && error === null && <RowsSkeleton />}
      {workspaces === undefined && error !== null && <LoadFailure error={error} />}
      {workspaces && (
        <ul className="rows nw">
          {workspaces.map((workspace) => (
            <WorkspaceRow key={workspace.id} workspace={workspace} />
          ))}
        </ul>
      )}
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </Section>
  )
}

function WorkspaceRow({ workspace }: { workspace: WorkspaceResource }) {
  const t = useText()
  const change = useChangeWorkspace()
  const { id, name: slug, title: name, role, created_at: createdAt } = workspace
  return (
    <li>
      <span className="ava" aria-hidden>
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="who">
        <b>{name}</b>
        <span>
          {slug !== name && <span className="mono">{slug} · </span>}
          {role === null ? t.instance.notMember : t.settings.roles[role]} ·{' '}
          <Ago instant={new Date(createdAt)} text={t.instance.created} />
        </span>
      </span>
      {role !== null && (
        <Button size="small" aria-label={`${t.instance.open}: ${name}`} onClick={() => change(id)}>
          {t.instance.open}
        </Button>
      )}
    </li>
  )
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [title, setTitle] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => createWorkspace(title),
    onSuccess() {
      showMessage(t.instance.workspaceCreated(title))
      void client.invalidateQueries({ queryKey: workspacesQuery.queryKey })
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
      onClose()
    },
  })
  const faults = useFaults(error, ['title'])
  return (
    <FormDialog
      title={t.instance.createWorkspace}
      verb={t.instance.createWorkspace}
      fault={faults.general}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field
        label={t.instance.workspaceName}
        hint={t.instance.workspaceNameHint}
        errors={faults.of('title')}
      >
        {(control) => (
          <Input
            {...control}
            required
            autoFocus
            autoComplete="off"
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
