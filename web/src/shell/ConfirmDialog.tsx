import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { CheckIcon, CopyIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { copyText } from '../widgets/copy-text.ts'
import { Dialog, FormDialog } from '../widgets/Dialog.tsx'
import { Field, Input } from '../widgets/Field.tsx'
import { showError, showMessage } from '../widgets/Toasts.tsx'
import { useFaults } from './use-faults.ts'

type ConfirmDialogProps = {
  readonly title: string
  /** Undefined until it is known. */
  readonly text: string | undefined
  /** What the act does, again. */
  readonly verb: string
  /** `ink` for what is no loss. */
  readonly look?: 'danger' | 'ink'
  /** A name that must be typed first. */
  readonly name?: string
  /** What is lost, as a list. */
  readonly children?: ReactNode
  readonly act: () => Promise<unknown>
  /** Queries that show something else afterwards. */
  readonly keys?: readonly QueryKey[]
  /** Says that it was done. */
  readonly message?: string
  /** `onClose` when left out. */
  readonly onDone?: () => unknown
  readonly onClose: () => void
}

/** Asks before what Undo cannot take back. It stays open, and says why, when the act fails. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, text, verb, look = 'danger', name, children } = props
  const { act, keys = [], message, onClose, onDone = onClose } = props
  const t = useText()
  const client = useQueryClient()
  const [typed, setTyped] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: act,
    async onSuccess() {
      if (message !== undefined) showMessage(message)
      void Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))
      await onDone()
    },
  })
  return (
    <FormDialog
      isFirm={false}
      title={title}
      description={text}
      verb={verb}
      look={look}
      fault={useFaults(error).general}
      isBusy={isPending}
      isIncomplete={name !== undefined && typed.trim().toLowerCase() !== name.toLowerCase()}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      {children}
      {name !== undefined && (
        <Field label={t.settings.typeToConfirm(name)}>
          {(control) => (
            <Input
              {...control}
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
      )}
    </FormDialog>
  )
}

/** Asks before the page is left while there is something to lose. */
export function LeaveGuard({ isOn }: { isOn: () => boolean }) {
  const t = useText()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isOn,
    enableBeforeUnload: isOn,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <FormDialog
      isFirm={false}
      title={t.linkForm.leaveTitle}
      description={t.linkForm.leaveText}
      verb={t.linkForm.leave}
      look="danger"
      cancel={t.linkForm.stay}
      onSubmit={() => proceed()}
      onClose={() => reset()}
    />
  )
}

type SecretDialogProps = {
  readonly title: string
  readonly text: string
  /** The name of the secret. */
  readonly label: string
  readonly secret: string
  readonly copyLabel: string
  readonly onClose: () => void
}

/** A link or token that is shown once. Only its button closes it, so that no key loses the secret. */
export function SecretDialog({
  title,
  text,
  label,
  secret,
  copyLabel,
  onClose,
}: SecretDialogProps) {
  const t = useText()
  const [isCopied, setCopied] = useState(false)

  async function copy() {
    const isDone = await copyText(secret)
    setCopied(isDone)
    if (!isDone) showError(t.common.notCopied)
  }

  return (
    <Dialog
      isFirm
      onClose={() => {}}
      title={title}
      description={`${text} ${t.settings.shownOnce}`}
      footer={
        <>
          <Button onClick={onClose}>{t.settings.done}</Button>
          <Button look="ink" autoFocus icon={isCopied ? CheckIcon : CopyIcon} onClick={copy}>
            {isCopied ? t.common.copied : copyLabel}
          </Button>
          <span className="sr" role="status">
            {isCopied && t.common.copied}
          </span>
        </>
      }
    >
      <Field label={label}>
        {(control) => (
          <Input
            {...control}
            className="mono"
            readOnly
            value={secret}
            onFocus={(event) => event.target.select()}
          />
        )}
      </Field>
    </Dialog>
  )
}
