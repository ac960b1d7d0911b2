import { Observable } from '../state/observable.ts'
import type { ApiError } from './api-error.ts'

const RETRY_MS_MIN = 2_000
const RETRY_MS_MAX = 30_000

export type Outage = {
  /** `offline`: no answer at all. `unavailable`: the service answers, but cannot read or write now. */
  readonly kind: 'offline' | 'unavailable'
  /** When the pages are loaded again, in ms since the epoch. */
  readonly retryAtMs: number
}

/** Undefined while the API answers. */
export const outage = new Observable<Outage | undefined>(undefined)

let failures = 0

export function reportAnswer(): void {
  failures = 0
  outage.set(undefined)
}

/** Each failure after the time of the last retry doubles the pause before the next. */
export function reportFailure(error: ApiError): void {
  const current = outage.value
  if (current !== undefined && Date.now() < current.retryAtMs) return
  failures += 1
  const backoffMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (failures - 1))
  const pauseMs = Math.max(backoffMs, (error.retryAfterSeconds ?? 0) * 1_000)
  const kind = error.status === 0 ? 'offline' : 'unavailable'
  outage.set({ kind, retryAtMs: Date.now() + pauseMs })
}
