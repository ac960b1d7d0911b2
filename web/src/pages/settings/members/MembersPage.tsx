import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { membersQuery } from '../../../api/members.ts'
import { InviteIcon } from '../../../icons/index.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'
import { Invitations } from './Invitations.tsx'
import { InviteDialog } from './InviteDialog.tsx'
import { MemberRow } from './MemberRow.tsx'

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
