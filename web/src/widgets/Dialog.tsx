import { Dialog as Base } from '@base-ui/react/dialog'
import { type FormEvent, type ReactNode, useLayoutEffect } from 'react'

type DialogProps = {
  readonly isOpen: boolean
  readonly onClose: () => void
  /** The question, when the dialog asks one. */
  readonly title: string
  readonly description?: ReactNode
  readonly children?: ReactNode
  /** The buttons, the act last. */
  readonly footer?: ReactNode
  /** Makes the dialog a form. */
  readonly onSubmit?: () => void
  /** Ignores clicks beside it. */
  readonly isFirm?: boolean
}

/** What floats over the page. */
const LAYERS = '.menu, .pal'

let openDialogs = 0
/** What had the focus last in the page itself. A dialog that follows another does not know it. */
let opener: HTMLElement | undefined

addEventListener('focusin', ({ target }) => {
  if (openDialogs > 0 || !(target instanceof HTMLElement)) return
  if (target.closest(LAYERS) === null) opener = target
})

/** Gives the focus back, unless another dialog or the page itself has taken it. */
function returnFocus(): void {
  const active = document.activeElement
  const isLost = active === null || active === document.body || active.closest('.dlg') !== null
  if (openDialogs === 0 && isLost) opener?.focus({ preventScroll: true })
}

/** Takes the focus, and gives it back when it closes. On phones it sits at the bottom. */
export function Dialog(props: DialogProps) {
  const { isOpen, onClose, title, description, children, footer, onSubmit, isFirm = false } = props
  const content = (
    <>
      <div className="b">
        <Base.Title>{title}</Base.Title>
        {description !== undefined && <Base.Description>{description}</Base.Description>}
        {children}
      </div>
      {footer !== undefined && <div className="f">{footer}</div>}
    </>
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    onSubmit?.()
  }
  useLayoutEffect(() => {
    if (!isOpen) return
    openDialogs += 1
    return () => {
      openDialogs -= 1
      requestAnimationFrame(returnFocus)
    }
  }, [isOpen])
  return (
    <Base.Root
      open={isOpen}
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
