import { useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { Icon } from '../icons/Icon.tsx'
import { AlertIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { errorText } from './use-faults.ts'

/** In place of what could not be loaded. An outage has its own note above the page, so it says nothing here. */
export function LoadFailure({ error }: { error: Error }) {
  const t = useText()
  const client = useQueryClient()
  if (error instanceof ApiError && error.isTemporary) return null
  return (
    <div className="p-6">
      <div className="note bad" role="alert">
        <Icon of={AlertIcon} />
        <span>{errorText(error, t)}</span>
        <Button
          size="small"
          look="bare"
          className="ml-auto"
          onClick={() => void client.refetchQueries({ type: 'active' })}
        >
          {t.common.retry}
        </Button>
      </div>
    </div>
  )
}
