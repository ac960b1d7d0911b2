import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useText } from '../text/use-text.ts'
import { FormDialog } from '../widgets/Dialog.tsx'
import { Field, Input } from '../widgets/Field.tsx'
import { showMessage } from '../widgets/Toasts.tsx'
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
