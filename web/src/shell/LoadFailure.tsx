import { useQueryClient } from '@tanstack/react-query'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { type Outage, outage, watchAvailability } from '../api/request.ts'
import { Icon } from '../icons/Icon.tsx'
import { AlertIcon, OfflineIcon } from '../icons/index.ts'
import { useObservable } from '../state/observable.ts'
import { useFormats, useText } from '../text/use-text.ts'
import { Button, buttonClass } from '../widgets/Button.tsx'
import { Brand } from './SoloPage.tsx'
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

/** Notices when the API does not answer, says what still works then, and loads the page again until it does. */
export function OutageNote() {
  const current = useObservable(outage)
  useEffect(watchAvailability, [])
  return current === undefined ? null : <Note outage={current} />
}

function Note({ outage: { kind, retryAtMs } }: { outage: Outage }) {
  const t = useText()
  const client = useQueryClient()
  const secondsLeft = useSecondsUntil(retryAtMs)
  const retry = useCallback(() => void client.refetchQueries({ type: 'active' }), [client])
  useEffect(() => {
    const timer = setTimeout(retry, Math.max(0, retryAtMs - Date.now()))
    addEventListener('online', retry)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', retry)
    }
  }, [retryAtMs, retry])
  return (
    <div className="note bad outage" role="alert">
      <Icon of={OfflineIcon} />
      <span>{kind === 'offline' ? t.shell.offline : t.shell.unavailable}</span>
      <span aria-hidden>{t.shell.nextTry(secondsLeft)}</span>
      <Button size="small" look="bare" className="ml-auto" onClick={retry}>
        {t.common.retry}
      </Button>
    </div>
  )
}

function useSecondsUntil(instantMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.ceil((instantMs - nowMs) / 1_000))
}

/** Until when clicks are counted, while counting is behind. */
export function CountedUntil({ instant }: { instant: string | null | undefined }) {
  const t = useText()
  const formats = useFormats()
  if (instant === null || instant === undefined) return null
  return (
    <p className="hint counted-until" role="status">
      {t.common.countedUntil(formats.clock(new Date(instant)))}
    </p>
  )
}

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

export function NotFoundPage() {
  const t = useText()
  return (
    <div className="solo">
      <header>
        <Brand />
      </header>
      <main>
        <div className="box">
          <h1>{t.common.notFound}</h1>
          <Link to="/links" className={buttonClass({})}>
            {t.shell.links}
          </Link>
        </div>
      </main>
    </div>
  )
}
