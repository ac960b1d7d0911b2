import { useBlocker } from '@tanstack/react-router'
import { useText } from '../text/use-text.ts'
import { FormDialog } from '../widgets/Dialog.tsx'

/** Asks before the page is left while there is something to lose. */
export function LeaveGuard({ isOn }: { isOn: () => boolean }) {
  const t = useText()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isOn,
    enableBeforeUnload: isOn,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <FormDialog
      isFirm={false}
      title={t.linkForm.leaveTitle}
      description={t.linkForm.leaveText}
      verb={t.linkForm.leave}
      look="danger"
      cancel={t.linkForm.stay}
      onSubmit={() => proceed()}
      onClose={() => reset()}
    />
  )
}
