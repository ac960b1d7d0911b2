import { useBlocker } from '@tanstack/react-router'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { Dialog } from '../widgets/Dialog.tsx'

/** Asks before the page is left while there is something to lose. */
export function LeaveGuard({ isOn }: { isOn: () => boolean }) {
  const t = useText()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isOn,
    enableBeforeUnload: isOn,
    withResolver: true,
  })
  return (
    <Dialog
      isOpen={status === 'blocked'}
      onClose={() => reset?.()}
      title={t.linkForm.leaveTitle}
      description={t.linkForm.leaveText}
      footer={
        <>
          <Button onClick={() => reset?.()}>{t.linkForm.stay}</Button>
          <Button look="danger" onClick={() => proceed?.()}>
            {t.linkForm.leave}
          </Button>
        </>
      }
    />
  )
}
