import { useState } from 'react'
import {
  type MemberResource,
  makeMemberResetLink,
  membersQuery,
  removeMember,
  setRole,
} from '../../../api/members.ts'
import { ROLES, type Role, sessionQuery } from '../../../api/session.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { ChevronDownIcon, LockIcon, MoreIcon, TrashIcon } from '../../../icons/index.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { useChange } from '../../../shell/use-change.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Avatar } from '../../../widgets/Avatar.tsx'
import { IconButton } from '../../../widgets/IconButton.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../../../widgets/Menu.tsx'
import { Ago, useNow } from '../../../widgets/Time.tsx'
import { tip } from '../../../widgets/tip.ts'
import { ResetLinkDialog } from '../ResetLinkDialog.tsx'

/** Sessions are noted to the minute. */
const ACTIVE_MS = 3 * 60_000

export function MemberRow({ member }: { member: MemberResource }) {
  const t = useText()
  const { session } = useMembership()
  const isOwn = member.id === session.person.id
  return (
    <li>
      <Avatar name={member.name} isOwn={isOwn} />
      <span className="who">
        <b>
          {member.name} {isOwn && <span className="tag">{t.settings.you}</span>}
        </b>
        <span className="wrap">
          {member.email} ·{' '}
          {member.has_second_factor ? t.members.withFactor : t.members.withoutFactor}
          {!member.is_email_proved && <> · {t.instance.unproved}</>}
          {member.is_from_groups && <> · {t.members.fromGroups}</>}
        </span>
      </span>
      <span className="col x">
        <LastSeen member={member} />
      </span>
      <RolePick member={member} />
      {isOwn ? <span className="w-7" /> : <MemberMenu member={member} />}
    </li>
  )
}

function LastSeen({ member }: { member: MemberResource }) {
  const t = useText()
  const now = useNow()
  if (member.is_disabled) return <span className="badge warn">{t.members.disabled}</span>
  if (member.last_seen_at === null) return t.members.neverSeen
  const seenAt = new Date(member.last_seen_at)
  return now.getTime() - seenAt.getTime() < ACTIVE_MS ? (
    t.members.activeNow
  ) : (
    <Ago instant={seenAt} />
  )
}

function RolePick({ member }: { member: MemberResource }) {
  const t = useText()
  const { may } = useMembership()
  const { mutate } = useChange((role: Role) => setRole(member.id, role), {
    keys: [membersQuery.queryKey, sessionQuery.queryKey],
    message: (role) => t.members.roleChanged(member.name, t.settings.roles[role]),
  })
  const name = t.settings.roles[member.role]
  const label = `${t.members.roleOf(member.name)}: ${name}`
  if (member.role === 'owner' && !may('owner')) {
    return (
      <button
        className="pick"
        type="button"
        aria-disabled
        aria-label={label}
        {...tip(t.members.ownersOnly)}
      >
        {name}
      </button>
    )
  }
  const trigger = (
    <button className="pick" type="button" aria-label={label}>
      {name}
      <Icon of={ChevronDownIcon} />
    </button>
  )
  const roles = ROLES.filter((role) => may(role))
  return (
    <Menu trigger={trigger}>
      <MenuChoice
        label={t.members.role}
        value={member.role}
        choices={roles.map((role) => [role, t.settings.roles[role]] as const)}
        onChange={(role) => mutate(role)}
      />
    </Menu>
  )
}

function MemberMenu({ member }: { member: MemberResource }) {
  const t = useText()
  const { may } = useMembership()
  const [open, setOpen] = useState<'remove' | 'reset'>()
  // What the API would refuse; what it knows more about, it says itself.
  if (member.role === 'owner' && !may('owner')) return <span className="w-7" />
  return (
    <>
      <Menu trigger={<IconButton icon={MoreIcon} label={t.settings.actionsFor(member.name)} />}>
        <MenuItem icon={LockIcon} onSelect={() => setOpen('reset')}>
          {t.members.resetLink}
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={TrashIcon} isDangerous onSelect={() => setOpen('remove')}>
          {t.members.remove}
        </MenuItem>
      </Menu>
      {open === 'reset' && (
        <ResetLinkDialog
          name={member.name}
          make={() => makeMemberResetLink(member.id)}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'remove' && (
        <ConfirmDialog
          title={t.members.removeTitle(member.name)}
          text={t.members.removeText}
          verb={t.members.remove}
          act={() => removeMember(member.id)}
          keys={[membersQuery.queryKey]}
          message={t.members.removed(member.name)}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}
