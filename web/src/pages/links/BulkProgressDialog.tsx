import { useObservable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { bulkRun } from './bulk-run.ts'

/** How far a bulk act of several requests is. Only Stop closes it. */
export function BulkProgressDialog() {
  const t = useText()
  const run = useObservable(bulkRun)
  if (run === undefined) return null
  const { done, total, stop, isStopping } = run
  const text = t.links.bulkProgress(done, total)
  return (
    <Dialog
      isOpen
      isFirm
      onClose={() => {}}
      title={text}
      description={t.links.bulkProgressHint}
      footer={
        <Button onClick={stop} isBusy={isStopping}>
          {t.links.stop}
        </Button>
      }
    >
      <progress value={done} max={total} aria-label={text} />
    </Dialog>
  )
}
