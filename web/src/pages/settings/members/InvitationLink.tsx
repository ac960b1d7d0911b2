import type { CreatedInvitationResource } from '../../../api/members.ts'
import { SecretDialog } from '../../../shell/SecretDialog.tsx'
import { useFormats, useText } from '../../../text/use-text.ts'

type InvitationLinkProps = {
  readonly invitation: CreatedInvitationResource
  readonly onClose: () => void
}

/** The link of an invitation, shown once. */
export function InvitationLink({ invitation, onClose }: InvitationLinkProps) {
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
