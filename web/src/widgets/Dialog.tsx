import { useText } from '../text/use-text.ts'
import { Button } from './Button.tsx'
import DialogLayer, { type DialogLayerProps } from './DialogLayer.tsx'
import { FormNote } from './Field.tsx'
// Before the first dialog: it follows the focus.
import './return-focus.ts'

type DialogProps = DialogLayerProps & { readonly isOpen?: boolean }

/** Takes the focus, and gives it back when it closes. On phones it sits at the bottom. */
export function Dialog({ isOpen = true, ...props }: DialogProps) {
  return isOpen ? <DialogLayer {...props} /> : null
}

type FormDialogProps = Omit<DialogProps, 'footer' | 'onSubmit'> & {
  /** On the button that sends the form. */
  readonly verb: string
  /** `danger` for what cannot be undone. */
  readonly look?: 'ink' | 'danger'
  /** On the other button; "Cancel" when left out. */
  readonly cancel?: string
  /** What is wrong with the form as a whole. */
  readonly fault?: string | undefined
  readonly isBusy?: boolean
  /** Whether something is missing without which the form cannot be sent. */
  readonly isIncomplete?: boolean
  readonly onSubmit: () => void
}

/** A form in a dialog, with Cancel and the button that sends it. Clicks beside it lose nothing that was typed. */
export function FormDialog(props: FormDialogProps) {
  const t = useText()
  const { verb, look = 'ink', cancel = t.common.cancel, fault, children, ...rest } = props
  const { isBusy = false, isIncomplete = false, onSubmit, ...dialog } = rest
  return (
    <Dialog
      isFirm
      {...dialog}
      onSubmit={() => {
        if (!isBusy && !isIncomplete) onSubmit()
      }}
      footer={
        <>
          <Button onClick={dialog.onClose}>{cancel}</Button>
          <Button type="submit" look={look} isBusy={isBusy} disabled={isIncomplete}>
            {verb}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 pt-2 empty:hidden">
        <FormNote text={fault} />
        {children}
      </div>
    </Dialog>
  )
}
