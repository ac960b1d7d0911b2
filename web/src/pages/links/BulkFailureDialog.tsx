import { problemText } from '../../shell/use-faults.ts'
import { useObservable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { bulkFailures } from './bulk-failures.ts'

const SHOWN_MAX = 100

/** Names each link with which a bulk act failed, and why; and how many it did not come to. */
export function BulkFailureDialog() {
  const t = useText()
  const failures = useObservable(bulkFailures)
  if (failures === undefined) return null
  const close = () => bulkFailures.set(undefined)
  const { failed, total, untouched, reason } = failures
  const isCut = untouched > 0
  return (
    <Dialog
      isOpen
      onClose={close}
      title={
        isCut
          ? t.links.bulkEnded(total - untouched - failed.length, total)
          : t.links.bulkFailed(failed.length, total)
      }
      description={
        <>
          {reason} {isCut ? t.links.bulkEndedHint(untouched) : t.links.bulkFailedHint}
        </>
      }
      footer={<Button onClick={close}>{t.common.close}</Button>}
    >
      {failed.length > 0 && (
        <ul className="quiet scroll">
          {failed.slice(0, SHOWN_MAX).map(({ id, link, error }, nth) => (
            <li key={id ?? nth}>
              <span className="cut">{link ?? id}</span>
              <span>{error && problemText(error, t)}</span>
            </li>
          ))}
          {failed.length > SHOWN_MAX && <li>{t.links.bulkMore(failed.length - SHOWN_MAX)}</li>}
        </ul>
      )}
    </Dialog>
  )
}
