import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { type Outage, outage, watchAvailability } from '../api/request.ts'
import { Icon } from '../icons/Icon.tsx'
import { OfflineIcon } from '../icons/index.ts'
import { useObservable } from '../state/observable.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'

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
