import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ROLES, type Role, sessionQuery } from '../../api/session.ts'
import {
  type CreatedInvitationResource,
  type InvitationResource,
  invitationsQuery,
  invite,
  type MemberResource,
  makeMemberResetLink,
  membersQuery,
  removeMember,
  setRole,
  withdrawInvitation,
} from '../../api/workspaces.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  ChevronDownIcon,
  CloseIcon,
  InviteIcon,
  LockIcon,
  MailIcon,
  MoreIcon,
  TrashIcon,
} from '../../icons/index.ts'
import { ConfirmDialog, SecretDialog } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useChange, useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Avatar } from '../../widgets/Avatar.tsx'
import { Button, IconButton } from '../../widgets/Button.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { Ago, Until, useNow } from '../../widgets/Time.tsx'
import { tip } from '../../widgets/Tips.tsx'
import { ResetLinkDialog } from './ResetLinkDialog.tsx'
import { RowsSkeleton, Section } from './Section.tsx'

const route = getRouteApi('/shell/settings/members')

/** The people of the workspace, and those who are invited. */
export default function MembersPage() {
  const t = useText()
  const { membership } = useMembership()
  const { data: members, error } = useQuery(membersQuery)
  const navigate = route.useNavigate()
  const { invite } = route.useSearch()
  const setInviting = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { invite: 'yes' } : {}, replace: true })
  const name = membership?.workspace_title ?? ''
  return (
    <>
      <Section
        title={t.members.title}
        hint={members && t.members.hint(members.length, name)}
        isFirst
        actions={
          <Button icon={InviteIcon} onClick={() => setInviting(true)}>
            {t.members.invite}
          </Button>
        }
      >
        {members === undefined && error === null && <RowsSkeleton />}
        {members === undefined && error !== null && <LoadFailure error={error} />}
        {members && (
          <ul className="rows nw">
            {members.map((member) => (
              <MemberRow key={member.id} member={member} />
            ))}
          </ul>
        )}
      </Section>
      <Invitations />
      {invite === 'yes' && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}

/** Sessions are noted to the minute. */
const ACTIVE_MS = 3 * 60_000

function MemberRow({ member }: { member: MemberResource }) {
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

/** Nothing where no invitation is open. */
function Invitations() {
  const t = useText()
  const { data: invitations = [] } = useQuery(invitationsQuery)
  const [made, setMade] = useState<CreatedInvitationResource>()
  if (invitations.length === 0 && made === undefined) return null
  return (
    <Section title={t.members.invitations}>
      <ul className="rows">
        {invitations.map((invitation) => (
          <InvitationRow key={invitation.id} invitation={invitation} onMade={setMade} />
        ))}
      </ul>
      {made && <InvitationLink invitation={made} onClose={() => setMade(undefined)} />}
    </Section>
  )
}

type InvitationRowProps = {
  readonly invitation: InvitationResource
  readonly onMade: (invitation: CreatedInvitationResource) => void
}

function InvitationRow({ invitation, onMade }: InvitationRowProps) {
  const t = useText()
  const { email, role, invited_by: invitedBy } = invitation
  const keys = [invitationsQuery.queryKey]
  const { mutate: withdraw } = useChange(() => withdrawInvitation(invitation.id), {
    keys,
    message: () => t.members.withdrawn(email),
  })
  const { mutate: makeLink, isPending } = useChange(async () => onMade(await invite(email, role)), {
    keys,
  })
  return (
    <li>
      <Icon of={MailIcon} />
      <span className="who">
        <b>{email}</b>
        <span>{invitedBy === null ? t.members.worksOnce : t.members.invitedBy(invitedBy)}</span>
      </span>
      <span className="col x">{t.settings.roles[role]}</span>
      <span className="col w-28">
        <Until instant={new Date(invitation.expires_at)} />
      </span>
      <Button
        size="small"
        className="fix"
        isBusy={isPending}
        onClick={() => makeLink(undefined)}
        {...tip(t.members.newLinkHint(email))}
      >
        {t.members.newLink}
      </Button>
      <IconButton
        icon={CloseIcon}
        label={`${t.members.withdraw}: ${email}`}
        onClick={() => withdraw(undefined)}
      />
    </li>
  )
}

/** Invites a person, and shows the link. */
function InviteDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const { may } = useMembership()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () => invite(email, role),
    onSuccess: () => client.invalidateQueries({ queryKey: invitationsQuery.queryKey }),
  })
  const faults = useFaults(error, ['email', 'role'])
  if (data !== undefined) return <InvitationLink invitation={data} onClose={onClose} />
  return (
    <FormDialog
      title={t.members.inviteTitle}
      verb={t.members.createInvitation}
      fault={faults.general}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.members.email} errors={faults.of('email')}>
        {(control) => (
          <Input
            {...control}
            type="email"
            required
            autoFocus
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label={t.members.role} hint={t.settings.roleHints[role]} errors={faults.of('role')}>
        {(control) => (
          <Select
            {...control}
            value={role}
            onChange={(event) => setRole(event.target.value as Role)}
          >
            {ROLES.filter((one) => may(one)).map((one) => (
              <option key={one} value={one}>
                {t.settings.roles[one]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </FormDialog>
  )
}

type InvitationLinkProps = {
  readonly invitation: CreatedInvitationResource
  readonly onClose: () => void
}

/** The link of an invitation, shown once. */
function InvitationLink({ invitation, onClose }: InvitationLinkProps) {
  const t = useText()
  const formats = useFormats()
  const { email, url, expires_at: expiresAt, mail_sent: isMailed } = invitation
  const texts = [
    t.members.invitationText,
    ...(isMailed ? [t.members.mailSent] : []),
    t.settings.worksUntil(formats.minute(new Date(expiresAt))),
  ]
  return (
    <SecretDialog
      title={t.members.invitationTitle(email)}
      text={texts.join(' ')}
      label={t.members.link}
      secret={url}
      copyLabel={t.settings.copyLink}
      onClose={onClose}
    />
  )
}
