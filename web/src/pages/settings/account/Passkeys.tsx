import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  addPasskey,
  deletePasskey,
  hasPasskeys,
  ME_KEY,
  PasskeyCancelled,
  type PasskeyResource,
  passkeysQuery,
  renamePasskey,
} from '../../../api/account.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { AddIcon, EditIcon, MoreIcon, PasskeyIcon, TrashIcon } from '../../../icons/index.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import { useText } from '../../../text/use-text.ts'
import { Button, IconButton } from '../../../widgets/Button.tsx'
import { FormDialog } from '../../../widgets/Dialog.tsx'
import { Field, Input } from '../../../widgets/Field.tsx'
import { Menu, MenuItem } from '../../../widgets/Menu.tsx'
import { Ago } from '../../../widgets/Time.tsx'
import { showMessage } from '../../../widgets/Toasts.tsx'
import { Section } from '../Section.tsx'

export function Passkeys() {
  const t = useText()
  const { data: passkeys = [] } = useQuery(passkeysQuery)
  const [isAdding, setAdding] = useState(false)
  return (
    <Section
      title={t.account.passkeys}
      hint={hasPasskeys ? t.account.passkeysHint : t.account.passkeysUnsupported}
      actions={
        hasPasskeys && (
          <Button icon={AddIcon} onClick={() => setAdding(true)}>
            {t.account.passkeyAdd}
          </Button>
        )
      }
    >
      <ul className="rows nw">
        {passkeys.length === 0 && <li className="muted">{t.account.passkeyNone}</li>}
        {passkeys.map((passkey) => (
          <PasskeyRow key={passkey.id} passkey={passkey} />
        ))}
      </ul>
      {isAdding && (
        <NameDialog
          title={t.account.passkeyAddTitle}
          text={t.account.passkeyAddText}
          verb={t.account.passkeyAdd}
          message={t.account.passkeyAdded}
          act={addPasskey}
          onClose={() => setAdding(false)}
        />
      )}
    </Section>
  )
}

function PasskeyRow({ passkey }: { passkey: PasskeyResource }) {
  const t = useText()
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const { id, name, created_at: createdAt, last_used_at: usedAt } = passkey
  return (
    <li>
      <Icon of={PasskeyIcon} />
      <span className="who">
        <b>{name}</b>
        <span>
          <Ago instant={new Date(createdAt)} text={t.account.added} /> ·{' '}
          {usedAt === null ? (
            t.account.neverUsed
          ) : (
            <Ago instant={new Date(usedAt)} text={t.account.used} />
          )}
        </span>
      </span>
      <Menu trigger={<IconButton icon={MoreIcon} label={t.settings.actionsFor(name)} />}>
        <MenuItem icon={EditIcon} onSelect={() => setOpen('rename')}>
          {t.account.passkeyRename}
        </MenuItem>
        <MenuItem icon={TrashIcon} isDangerous onSelect={() => setOpen('delete')}>
          {t.account.passkeyDelete}
        </MenuItem>
      </Menu>
      {open === 'rename' && (
        <NameDialog
          title={t.account.passkeyRenameTitle}
          verb={t.account.passkeyRename}
          message={t.account.passkeyRenamed}
          initial={name}
          act={(next) => renamePasskey(id, next)}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={t.account.passkeyDeleteTitle(name)}
          text={t.account.passkeyDeleteText}
          verb={t.account.passkeyDelete}
          act={() => deletePasskey(id)}
          keys={[ME_KEY]}
          message={t.account.passkeyDeleted}
          onClose={() => setOpen(undefined)}
        />
      )}
    </li>
  )
}

type NameDialogProps = {
  readonly title: string
  readonly text?: string
  readonly verb: string
  readonly message: string
  readonly initial?: string
  readonly act: (name: string) => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for the name of a passkey, and does something with it. */
function NameDialog({ title, text, verb, message, initial = '', act, onClose }: NameDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const [name, setName] = useState(initial)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => act(name),
    onSuccess() {
      showMessage(message)
      void client.invalidateQueries({ queryKey: ME_KEY })
      onClose()
    },
  })
  const faults = useFaults(error, ['name'])
  const isCancelled = error instanceof PasskeyCancelled
  return (
    <FormDialog
      onClose={onClose}
      onSubmit={() => mutate()}
      title={title}
      description={text}
      verb={verb}
      fault={isCancelled ? t.account.passkeyCancelled : faults.general}
      isBusy={isPending}
    >
      <Field
        label={t.account.passkeyName}
        hint={t.account.passkeyNameHint}
        errors={faults.of('name')}
      >
        {(control) => (
          <Input
            {...control}
            required
            autoFocus
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
