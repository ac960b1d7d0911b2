import { Icon } from '../icons/Icon.tsx'
import { ChevronsUpDownIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Menu, MenuChoice } from '../widgets/Menu.tsx'
import { useChangeWorkspace } from './use-change-workspace.ts'
import { useMembership } from './use-membership.ts'

/**
 * Shows the workspace, and leads to the others.
 *
 * @param isInBar for the top bar of narrow windows, which have no sidebar
 */
export function WorkspaceMenu({ isInBar = false }: { readonly isInBar?: boolean }) {
  const t = useText()
  const { membership, session } = useMembership()
  const change = useChangeWorkspace()
  const name = membership?.workspace_title ?? ''

  const trigger = (
    <button className={isInBar ? 'ws in-bar' : 'ws'} type="button">
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
        choices={session.memberships.map((one) => [one.workspace_id, one.workspace_title] as const)}
        onChange={change}
      />
    </Menu>
  )
}
