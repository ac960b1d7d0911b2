import { useState } from 'react'
import { deleteWebhook, WEBHOOKS_KEY, type WebhookResource } from '../../api/webhooks.ts'
import { Icon } from '../../icons/Icon.tsx'
import { DuplicateIcon, MoreIcon, TrashIcon } from '../../icons/index.ts'
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { useText } from '../../text/use-text.ts'
import { Menu, MenuItem } from '../../widgets/Menu.tsx'
import { NewWebhookDialog } from './NewWebhook.tsx'

type WebhookMenuProps = {
  readonly webhook: WebhookResource
  /** Leaves the page of the endpoint. */
  readonly onDeleted?: () => unknown
}

/** What is done with an endpoint as a whole. */
export function WebhookMenu({ webhook, onDeleted }: WebhookMenuProps) {
  const t = useText()
  const [dialog, setDialog] = useState<'duplicate' | 'delete'>()
  const { id, name } = webhook
  const close = () => setDialog(undefined)
  return (
    <>
      <Menu
        trigger={
          <button className="ib" type="button" aria-label={t.settings.actionsFor(name)}>
            <Icon of={MoreIcon} />
          </button>
        }
      >
        <MenuItem icon={DuplicateIcon} onSelect={() => setDialog('duplicate')}>
          {t.links.duplicate}
        </MenuItem>
        <MenuItem icon={TrashIcon} isDangerous onSelect={() => setDialog('delete')}>
          {t.common.delete}
        </MenuItem>
      </Menu>
      {dialog === 'duplicate' && <NewWebhookDialog from={webhook} onClose={close} />}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={t.webhooks.deleteTitle(name)}
          text={t.webhooks.deleteText}
          verb={t.common.delete}
          act={() => deleteWebhook(id)}
          keys={onDeleted === undefined ? [WEBHOOKS_KEY] : []}
          message={t.webhooks.deleted(name)}
          {...(onDeleted && { onDone: onDeleted })}
          onClose={close}
        />
      )}
    </>
  )
}
