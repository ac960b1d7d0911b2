import type { WebhookResource } from '../../api/webhooks.ts'
import { Icon } from '../../icons/Icon.tsx'
import { BadIcon, GoodIcon, WarningIcon } from '../../icons/index.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { useNow } from '../../widgets/Time.tsx'

type WebhookProps = { readonly webhook: WebhookResource }

const LOOKS = {
  healthy: ['ok', GoodIcon],
  failing: ['warn', WarningIcon],
  disabled: ['bad', BadIcon],
} as const

export function StateBadge({ webhook: { state } }: WebhookProps) {
  const t = useText()
  const [look, icon] = LOOKS[state]
  return (
    <span className={`badge ${look}`}>
      <Icon of={icon} />
      {t.webhooks.states[state]}
    </span>
  )
}

/** The attempts of 7 days, added up. */
export function sumsOf({ half_days }: WebhookResource) {
  const sum = (field: 'delivered' | 'failed') =>
    half_days.reduce((all, halfDay) => all + halfDay[field], 0)
  return { delivered: sum('delivered'), failed: sum('failed') }
}

/** Returns how to write the share of attempts that succeeded; undefined without any. */
export function useShare(webhook: WebhookResource): string | undefined {
  const formats = useFormats()
  const { delivered, failed } = sumsOf(webhook)
  if (delivered + failed === 0) return undefined
  // Cut off: one failure must not read as none.
  return `${formats.number(Math.floor((delivered / (delivered + failed)) * 10_000) / 100)} %`
}

const BAR = 5
const GAP = 1
const HEIGHT = 22

/** Half days as bars: the height is the number of attempts, red the part that failed. */
export function HalfDays({ webhook }: WebhookProps) {
  const t = useText()
  const share = useShare(webhook)
  const { half_days: halfDays } = webhook
  const most = Math.max(1, ...halfDays.map(({ delivered, failed }) => delivered + failed))
  const { delivered, failed } = sumsOf(webhook)
  const last = halfDays.length - 1
  return (
    <>
      <svg
        className="health"
        viewBox={`0 0 ${halfDays.length * (BAR + GAP) - GAP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.webhooks.halfDays(delivered, failed)}
      >
        {halfDays.map((halfDay, nth) => {
          const all = ((halfDay.delivered + halfDay.failed) / most) * HEIGHT
          const bad = (halfDay.failed / most) * HEIGHT
          const height = Math.max(1, all)
          const x = nth * (BAR + GAP)
          const look = nth === last && halfDay.failed === 0 ? 'now' : undefined
          return (
            <g key={halfDay.start}>
              <rect
                className={all === 0 ? 'e' : look}
                {...{ x, y: HEIGHT - height, width: BAR, height }}
              />
              {bad > 0 && (
                <rect className="f" {...{ x, y: HEIGHT - height, width: BAR, height: bad }} />
              )}
            </g>
          )
        })}
      </svg>
      {share !== undefined && <b>{share}</b>}
    </>
  )
}

/** Returns what is wrong, since when, what waits and what happens next; undefined for an endpoint that is fine. */
export function useReason(webhook: WebhookResource): string | undefined {
  const t = useText()
  const formats = useFormats()
  const now = useNow()
  const { disabled_reason, fault, fault_status, failing_since, next_try_at, waiting } = webhook
  if (disabled_reason !== null) {
    const why = fault === null ? '' : ` ${faultText(t.webhooks.faults[fault], fault_status)}.`
    return `${t.webhooks.reasons[disabled_reason]}.${why} ${t.webhooks.keptHint}`
  }
  if (failing_since === null || fault === null) return undefined
  const since = formats.ago(new Date(failing_since), now)
  const parts = [
    t.webhooks.failing(faultText(t.webhooks.faults[fault], fault_status), since),
    ...(waiting > 0 ? [`${t.webhooks.waits(waiting)}.`] : []),
  ]
  if (next_try_at !== null) {
    const next = new Date(Math.max(now.getTime(), new Date(next_try_at).getTime()))
    parts.push(t.webhooks.nextTry(formats.until(next, now)))
  }
  // What ends a time may be the dot of an abbreviation.
  return parts.map((part) => part.replace(/\.\.$/, '.')).join(' ')
}

export function faultText(word: string, status: number | null): string {
  return status === null ? word : `${word} (${status})`
}
