import { Toast } from '@base-ui/react/toast'
import { useSyncExternalStore } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { AlertIcon, CheckIcon, CloseIcon } from '../icons/index.ts'
import { randomId } from '../state/random-id.ts'
import { useText } from '../text/use-text.ts'
import { Button } from './Button.tsx'

const UNDO_MS = 6_000
const MESSAGE_MS = 5_000

type ToastData = {
  readonly icon: IconNode
  /** Shows Undo, and a bar that shrinks over this time. */
  readonly undo?: { readonly run: () => void; readonly durationMs: number }
  readonly retry?: () => void
  readonly copy?: () => void
}

const toasts = Toast.createToastManager<ToastData>()

type MessageOptions = {
  readonly icon?: IconNode
  /** Shows a button that copies what the message is about, and leaves time to press it. */
  readonly copy?: () => void
}

export function showMessage(title: string, { icon = CheckIcon, copy }: MessageOptions = {}): void {
  const data = { icon, ...(copy && { copy }) }
  const timeout = copy === undefined ? MESSAGE_MS : MESSAGE_MS * 2
  toasts.add({ title, timeout, data })
}

export function showError(title: string, retry?: () => void): void {
  const data = { icon: AlertIcon, ...(retry && { retry }) }
  const options = { title, type: 'bad', priority: 'high', timeout: MESSAGE_MS * 2, data } as const
  toasts.add(options)
}

type UndoOffer = {
  /** What has happened, or will when the time for Undo is over. */
  readonly message: string
  readonly icon: IconNode
  readonly undo: () => void
  /** Called once, when the time for Undo is over or the page is left; what cannot be undone is done here. */
  readonly otherwise?: () => void
}

/** In the order in which they were made. */
const pending = new Map<string, { readonly finish: () => void; readonly revert: () => void }>()

/**
 * Says what was done, with Undo for six seconds. Hover and focus stop the time. It is over at once when
 * the toast is closed or the page is left.
 */
export function offerUndo({ message, icon, undo, otherwise = () => {} }: UndoOffer): void {
  const id = randomId()
  const finish = () => {
    if (pending.delete(id)) otherwise()
  }
  const revert = () => {
    if (pending.delete(id)) undo()
    toasts.close(id)
  }
  pending.set(id, { finish, revert })
  const data = { icon, undo: { run: revert, durationMs: UNDO_MS } }
  toasts.add({ id, title: message, timeout: UNDO_MS, onClose: finish, data })
}

/** Takes back the last act that can still be taken back; again, the one before it. */
export function undoLastAct(): void {
  ;[...pending.values()].at(-1)?.revert()
}

/** Ends the time for Undo of all offers, while the session and the workspace that they belong to are still there. */
export function endUndoOffers(): void {
  for (const [id, { finish }] of [...pending]) {
    finish()
    toasts.close(id)
  }
}

addEventListener('pagehide', endUndoOffers)

const TOASTS_MAX = 4
/** On phones they cover what the page shows. */
const PHONE_TOASTS_MAX = 2
const narrow = matchMedia('(max-width: 900px)')

/** Shows the messages, bottom right. */
export function Toasts() {
  const isNarrow = useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )
  return (
    <Toast.Provider toastManager={toasts} limit={isNarrow ? PHONE_TOASTS_MAX : TOASTS_MAX}>
      <Toast.Portal>
        <ToastList />
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const t = useText()
  const { toasts: shown } = Toast.useToastManager<ToastData>()
  return (
    <Toast.Viewport className="toasts" aria-label={t.shell.notifications}>
      {shown.map((toast) => (
        <Toast.Root key={toast.id} toast={toast} className={`toast ${toast.type ?? ''}`}>
          {toast.data && <Icon of={toast.data.icon} />}
          <Toast.Title className="cut" render={<span />} />
          <span className="acts">
            {toast.data?.undo && (
              <Button
                size="small"
                look="bare"
                shortcut="Z"
                onClick={toast.data.undo.run}
                className="text-accent-text"
              >
                {t.common.undo}
              </Button>
            )}
            <Act toast={toast} act={toast.data?.retry} name={t.common.retry} />
            <Act toast={toast} act={toast.data?.copy} name={t.common.copy} />
            <Toast.Close className="ib" aria-label={t.common.close}>
              <Icon of={CloseIcon} />
            </Toast.Close>
          </span>
          {toast.data?.undo && <span className="time" aria-hidden />}
        </Toast.Root>
      ))}
    </Toast.Viewport>
  )
}

type ActProps = {
  readonly toast: { readonly id: string }
  readonly act: (() => void) | undefined
  readonly name: string
}

/** A button that ends the message and acts. */
function Act({ toast, act, name }: ActProps) {
  if (act === undefined) return null
  return (
    <Button
      size="small"
      look="bare"
      onClick={() => {
        toasts.close(toast.id)
        act()
      }}
    >
      {name}
    </Button>
  )
}
