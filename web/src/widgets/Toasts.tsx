import { Toast } from '@base-ui/react/toast'
import { useEffect, useSyncExternalStore } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { CloseIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button } from './Button.tsx'
import { startToasts, type ToastData } from './toasts.ts'

const TOASTS_MAX = 4
/** On phones they cover what the page shows. */
const PHONE_TOASTS_MAX = 2
const narrow = matchMedia('(max-width: 900px)')

const toasts = Toast.createToastManager<ToastData>()

/** Shows the messages of `toasts.ts`, bottom right. */
export function Toasts() {
  const isNarrow = useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )
  // After the effects of the provider: by then it listens.
  useEffect(() => startToasts(toasts), [])
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
