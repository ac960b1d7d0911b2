import { useState } from 'react'
import type { OneTimeLinkResource } from '../../api/workspaces.ts'
import { ConfirmDialog, SecretDialog } from '../../shell/ConfirmDialog.tsx'
import { useFormats, useText } from '../../text/use-text.ts'

type ResetLinkDialogProps = {
  readonly name: string
  readonly make: () => Promise<OneTimeLinkResource>
  readonly onClose: () => void
}

/** Makes a link with which a person sets a new password, and shows it once. */
export function ResetLinkDialog({ name, make, onClose }: ResetLinkDialogProps) {
  const t = useText()
  const formats = useFormats()
  const [link, setLink] = useState<OneTimeLinkResource>()
  if (link === undefined) {
    return (
      <ConfirmDialog
        title={t.members.resetTitle(name)}
        text={t.members.resetAsk}
        verb={t.members.resetMake}
        look="ink"
        act={async () => setLink(await make())}
        onDone={() => {}}
        onClose={onClose}
      />
    )
  }
  const until = t.settings.worksUntil(formats.minute(new Date(link.expires_at)))
  return (
    <SecretDialog
      title={t.members.resetTitle(name)}
      text={`${t.members.resetText} ${until}`}
      label={t.members.link}
      secret={link.url}
      copyLabel={t.settings.copyLink}
      onClose={onClose}
    />
  )
}
