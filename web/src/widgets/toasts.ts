import type { Toast } from '@base-ui/react/toast'
import type { IconNode } from '../icons/Icon.tsx'
import { AlertIcon, CheckIcon } from '../icons/index.ts'
import { randomId } from '../state/random-id.ts'

const UNDO_MS = 6_000
const MESSAGE_MS = 5_000

export type ToastData = {
  readonly icon: IconNode
  /** Shows Undo, and a bar that shrinks over this time. */
  readonly undo?: { readonly run: () => void; readonly durationMs: number }
  readonly retry?: () => void
  readonly copy?: () => void
}

export type Toasts = ReturnType<typeof Toast.createToastManager<ToastData>>

let toasts: Toasts | undefined
/** What is to be shown once `Toasts` has been loaded. */
const waiting: ((toasts: Toasts) => void)[] = []

/** Shows messages from now on, and those from before. */
export function startToasts(manager: Toasts): void {
  toasts = manager
  for (const act of waiting.splice(0)) act(manager)
}

function withToasts(act: (toasts: Toasts) => void): void {
  if (toasts === undefined) waiting.push(act)
  else act(toasts)
}

type MessageOptions = {
  readonly icon?: IconNode
  /** Shows a button that copies what the message is about, and leaves time to press it. */
  readonly copy?: () => void
}

export function showMessage(title: string, { icon = CheckIcon, copy }: MessageOptions = {}): void {
  const data = { icon, ...(copy && { copy }) }
  const timeout = copy === undefined ? MESSAGE_MS : MESSAGE_MS * 2
  withToasts((shown) => shown.add({ title, timeout, data }))
}

export function showError(title: string, retry?: () => void): void {
  const data = { icon: AlertIcon, ...(retry && { retry }) }
  const options = { title, type: 'bad', priority: 'high', timeout: MESSAGE_MS * 2, data } as const
  withToasts((shown) => shown.add(options))
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
    withToasts((shown) => shown.close(id))
  }
  pending.set(id, { finish, revert })
  const data = { icon, undo: { run: revert, durationMs: UNDO_MS } }
  withToasts((shown) => shown.add({ id, title: message, timeout: UNDO_MS, onClose: finish, data }))
}

/** Takes back the last act that can still be taken back; again, the one before it. */
export function undoLastAct(): void {
  ;[...pending.values()].at(-1)?.revert()
}

/** Ends the time for Undo of all offers, while the session and the workspace that they belong to are still there. */
export function endUndoOffers(): void {
  for (const [id, { finish }] of [...pending]) {
    finish()
    withToasts((shown) => shown.close(id))
  }
}

addEventListener('pagehide', endUndoOffers)
