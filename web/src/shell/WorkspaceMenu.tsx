import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Icon } from '../icons/Icon.tsx'
import { ChevronsUpDownIcon } from '../icons/index.ts'
import { setCurrentWorkspace } from '../state/workspace.ts'
import { useText } from '../text/use-text.ts'
import { Menu, MenuChoice } from '../widgets/Menu.tsx'
import { useMembership } from './use-membership.ts'

/** Shows the workspace, and leads to the others. */
export function WorkspaceMenu() {
  const t = useText()
  const { membership, session } = useMembership()
  const client = useQueryClient()
  const navigate = useNavigate()
  const name = membership?.workspace_name ?? ''

  async function change(id: string) {
    setCurrentWorkspace(id)
    // Nothing of the other workspace may be shown for a moment.
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    await navigate({ to: '/links' })
  }

  const trigger = (
    <button className="ws" type="button">
      <span className="sr">{t.shell.workspace}</span>
      <span className="ava" aria-hidden>
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="cut">{name}</span>
      <Icon of={ChevronsUpDownIcon} small />
    </button>
  )
  return (
    <Menu trigger={trigger} align="start">
      <MenuChoice
        label={t.shell.workspace}
        value={membership?.workspace_id ?? ''}
        choices={session.memberships.map((one) => [one.workspace_id, one.workspace_name] as const)}
        onChange={change}
      />
    </Menu>
  )
}
