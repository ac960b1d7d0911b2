import { useObservable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { bulkFailures } from './bulk-failures.ts'

/** Names each link with which a bulk act failed, and why. */
export function BulkFailureDialog() {
  const t = useText()
  const failures = useObservable(bulkFailures)
  if (failures === undefined) return null
  const close = () => bulkFailures.set(undefined)
  const { failed, total } = failures
  return (
    <Dialog
      isOpen
      onClose={close}
      title={t.links.bulkFailed(failed.length, total)}
      description={t.links.bulkFailedHint}
      footer={<Button onClick={close}>{t.common.close}</Button>}
    >
      <ul className="quiet scroll">
        {failed.map(({ index, id, link, error }) => (
          <li key={index}>
            <span className="cut">{link ?? id}</span>
            <span>{reasonOf(error)}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

type Reason = {
  readonly message: string
  readonly errors?: Readonly<Record<string, readonly string[]>> | undefined
}

function reasonOf(error: Reason | null): string {
  const fields = Object.values(error?.errors ?? {}).flat()
  return fields.length > 0 ? fields.join(' ') : (error?.message ?? '')
}
