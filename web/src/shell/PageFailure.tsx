import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiError } from '../api/api-error.ts'
import { outage } from '../api/request.ts'
import { Icon } from '../icons/Icon.tsx'
import { AlertIcon, OfflineIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { Brand } from './Brand.tsx'
import { errorText } from './use-faults.ts'

/** In place of the whole page when it cannot be shown. A service that cannot answer now is tried again. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const t = useText()
  const router = useRouter()
  const isTemporary = error instanceof ApiError && error.isTemporary
  async function retry() {
    await router.invalidate()
    reset()
  }
  useEffect(() => {
    if (!isTemporary) return
    const timer = setTimeout(retry, Math.max(0, (outage.value?.retryAtMs ?? 0) - Date.now()))
    return () => clearTimeout(timer)
  })
  const message = error instanceof Error ? errorText(error, t) : t.common.unexpected
  const isOffline = isTemporary && error.status === 0
  return (
    <div className="solo">
      <header>
        <Brand />
      </header>
      <main>
        <div className="box" role="alert">
          <h1>
            {isTemporary ? (isOffline ? t.shell.offline : t.shell.unavailable) : t.shell.pageFailed}
          </h1>
          {!isTemporary && (
            <p className="note bad">
              <Icon of={AlertIcon} />
              <span>
                {message}
                <br />
                {t.shell.pageFailedHint}
              </span>
            </p>
          )}
          <Button onClick={retry} icon={OfflineIcon}>
            {t.common.retry}
          </Button>
        </div>
      </main>
    </div>
  )
}
