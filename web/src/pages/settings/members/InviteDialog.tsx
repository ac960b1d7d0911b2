import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invitationsQuery, invite } from '../../../api/members.ts'
import { ROLES, type Role } from '../../../api/session.ts'
import { useFaults } from '../../../shell/use-faults.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Dialog } from '../../../widgets/Dialog.tsx'
import { Field, Input, Select } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
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
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      onSubmit={() => mutate()}
      title={t.members.inviteTitle}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isPending}>
            {t.members.createInvitation}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 pt-2">
        <FormNote text={faults.general} />
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
      </div>
    </Dialog>
  )
}
