import { Dialog as Base } from '@base-ui/react/dialog'
import { type FormEvent, type ReactNode, useLayoutEffect } from 'react'
import { useText } from '../text/use-text.ts'
import { Button } from './Button.tsx'
import { returnFocusAtEnd } from './return-focus.ts'

export type DialogLayerProps = {
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

/** The dialog itself. It is loaded apart, with the library that it is made with. */
export default function DialogLayer(props: DialogLayerProps) {
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
