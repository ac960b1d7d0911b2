import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type CreatedInvitationResource,
  type InvitationResource,
  invitationsQuery,
  invite,
  withdrawInvitation,
} from '../../../api/members.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { CloseIcon, MailIcon } from '../../../icons/index.ts'
import { useChange } from '../../../shell/use-change.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { IconButton } from '../../../widgets/IconButton.tsx'
import { Until } from '../../../widgets/Time.tsx'
import { tip } from '../../../widgets/tip.ts'
import { Section } from '../Section.tsx'
import { InvitationLink } from './InvitationLink.tsx'

/** Nothing where no invitation is open. */
export function Invitations() {
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
