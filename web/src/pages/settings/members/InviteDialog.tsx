import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invitationsQuery, invite } from '../../../api/members.ts'
import { ROLES, type Role } from '../../../api/session.ts'
import { FormDialog } from '../../../shell/FormDialog.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Field, Input, Select } from '../../../widgets/Field.tsx'
import { InvitationLink } from './InvitationLink.tsx'

/** Invites a person, and shows the link. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
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
