import type { ReactNode } from 'react'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { Dialog } from '../widgets/Dialog.tsx'
import { FormNote } from '../widgets/FormNote.tsx'

type FormDialogProps = {
  readonly title: string
  /** On the button that sends the form. */
  readonly verb: string
  /** What is wrong with the form as a whole. */
  readonly fault: string | undefined
  readonly isBusy: boolean
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form in a dialog, with Cancel and the button that sends it. */
export function FormDialog(props: FormDialogProps) {
  const t = useText()
  const { title, verb, fault, isBusy, onSubmit, onClose, children } = props
  return (
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      onSubmit={onSubmit}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isBusy}>
            {verb}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 pt-2">
        <FormNote text={fault} />
        {children}
      </div>
    </Dialog>
  )
}
