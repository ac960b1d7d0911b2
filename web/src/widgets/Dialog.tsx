import { Dialog as Base } from '@base-ui/react/dialog'
import { type FormEvent, type ReactNode, useLayoutEffect } from 'react'
import { useText } from '../text/use-text.ts'
import { Button } from './Button.tsx'
import { FormNote } from './Field.tsx'

type DialogProps = {
  readonly onClose: () => void
  /** The question, when the dialog asks one. */
  readonly title: string
  readonly description?: ReactNode
  readonly children?: ReactNode
  /** The buttons, the act last; Close when left out. */
  readonly footer?: ReactNode
  /** Makes the dialog a form. */
  readonly onSubmit?: () => void
  /** Ignores clicks beside it. */
  readonly isFirm?: boolean
}

/** Takes the focus, and gives it back when it closes. On phones it sits at the bottom. */
export function Dialog(props: DialogProps) {
  const t = useText()
  const { onClose, title, description, children, footer, onSubmit, isFirm = false } = props
  const content = (
    <>
      <div className="b">
        <Base.Title>{title}</Base.Title>
        {description !== undefined && <Base.Description>{description}</Base.Description>}
        {children}
      </div>
      <div className="f">{footer ?? <Button onClick={onClose}>{t.common.close}</Button>}</div>
    </>
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    // In React, a dialog within a form is a part of it.
    event.stopPropagation()
    onSubmit?.()
  }
  useLayoutEffect(returnFocusAtEnd, [])
  return (
    <Base.Root
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      disablePointerDismissal={isFirm}
    >
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Viewport className="scrim center">
          <Base.Popup className="dlg" finalFocus={false}>
            {onSubmit === undefined ? content : <form onSubmit={submit}>{content}</form>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  )
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

/** What floats over the page. */
const LAYERS = '.menu, .pal'

let openDialogs = 0
/** What had the focus last in the page itself. Base UI loses it where a dialog follows another. */
let opener: HTMLElement | undefined

addEventListener('focusin', ({ target }) => {
  if (openDialogs > 0 || !(target instanceof HTMLElement)) return
  if (target.closest(LAYERS) === null) opener = target
})

/** The effect of a dialog: at its end, what had the focus before all dialogs gets it back. */
function returnFocusAtEnd(): () => void {
  openDialogs += 1
  return () => {
    openDialogs -= 1
    requestAnimationFrame(returnFocus)
  }
}

/** Gives the focus back, unless another dialog or the page itself has taken it. */
function returnFocus(): void {
  const active = document.activeElement
  const isLost = active === null || active === document.body || active.closest('.dlg') !== null
  if (openDialogs === 0 && isLost) opener?.focus({ preventScroll: true })
}
