import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import {
  type AttemptFilter,
  type AttemptResource,
  attemptsQuery,
  type ReplayedPeriod,
  replay,
  replaySizeQuery,
  WEBHOOKS_KEY,
  type WebhookResource,
} from '../../api/webhooks.ts'
import { Icon } from '../../icons/Icon.tsx'
import { BadIcon, ChevronRightIcon, GoodIcon, ReloadIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { Ago, Until } from '../../widgets/Time.tsx'
import { showError, showMessage } from '../../widgets/Toasts.tsx'
import { RowsSkeleton } from '../settings/Section.tsx'
import { faultText } from './WebhookState.tsx'

/** What was sent to an endpoint, and what it answered. */
export function Attempts({ webhook }: { readonly webhook: WebhookResource }) {
  const t = useText()
  const [shown, setShown] = useState<'all' | 'failed'>('all')
  const [event, setEvent] = useState<AttemptFilter['event'] | ''>('')
  const [isReplaying, setReplaying] = useState(false)
  const filter = { onlyFailed: shown === 'failed', event: event === '' ? undefined : event }
  const list = useInfiniteQuery(attemptsQuery(webhook.id, filter))
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const attempts = data?.pages.flatMap((page) => page.data)
  const { replay: running } = webhook
  return (
    <section className="grid gap-3">
      <div className="flex gap-3 items-center flex-wrap">
        <h2 className="sec-h">{t.webhooks.attempts}</h2>
        <SegmentedControl
          label={t.webhooks.attempts}
          value={shown}
          choices={[
            ['all', t.webhooks.all],
            ['failed', t.webhooks.failedOnly],
          ]}
          onChange={setShown}
        />
        <Select
          className="att-event"
          aria-label={t.webhooks.event}
          value={event}
          onChange={({ target }) => setEvent(target.value as typeof event)}
        >
          <option value="">{t.webhooks.everyEvent}</option>
          {webhook.events.map((one) => (
            <option key={one} value={one}>
              {t.webhooks.events[one]}
            </option>
          ))}
          <option value="webhook.test">{t.webhooks.test}</option>
        </Select>
        <Button
          size="small"
          className="ml-auto"
          icon={ReloadIcon}
          disabled={!webhook.enabled}
          title={webhook.enabled ? undefined : t.webhooks.switchOnFirst}
          onClick={() => setReplaying(true)}
        >
          {t.webhooks.replayPeriod}
        </Button>
      </div>
      {running !== null && !running.done && (
        <p className="muted" role="status">
          {t.webhooks.replaying(running.queued)}
        </p>
      )}
      {attempts === undefined && error === null && <RowsSkeleton />}
      {attempts === undefined && error !== null && <LoadFailure error={error} />}
      {attempts?.length === 0 && (
        <p className="muted">
          {filter.onlyFailed || event !== '' ? t.webhooks.noneOfThese : t.webhooks.noAttempts}
        </p>
      )}
      {attempts !== undefined && attempts.length > 0 && (
        <ol className="att">
          {attempts.map((attempt) => (
            <AttemptRow key={attempt.id} webhook={webhook} attempt={attempt} />
          ))}
        </ol>
      )}
      {hasNextPage && (
        <div>
          <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.common.more}
          </Button>
        </div>
      )}
      <p className="hint">{t.webhooks.attemptsHint}</p>
      {isReplaying && <ReplayDialog id={webhook.id} onClose={() => setReplaying(false)} />}
    </section>
  )
}

type AttemptProps = { readonly webhook: WebhookResource; readonly attempt: AttemptResource }

function AttemptRow({ webhook, attempt }: AttemptProps) {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  const { ok, status, fault, event, summary, took_ms, at, next_try_at } = attempt
  const names: Readonly<Record<string, string>> = t.webhooks.events
  const answer = ok || fault === null ? String(status) : faultText(t.webhooks.faults[fault], status)
  return (
    <li className={isOpen ? 'is-open' : undefined}>
      <button
        className="att-r"
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon of={ChevronRightIcon} />
        <span>
          <span className={ok ? 'badge ok' : 'badge bad'}>
            <Icon of={ok ? GoodIcon : BadIcon} />
            {answer}
          </span>
        </span>
        <span className="ev cut">
          {names[event] ?? t.webhooks.test} <span>{summary}</span>
          {attempt.try > 1 && <span> {t.webhooks.try(attempt.try)}</span>}
        </span>
        <span className="num">{t.webhooks.answerMs(took_ms)}</span>
        <span className="last num">
          {next_try_at === null ? (
            <Ago instant={new Date(at)} />
          ) : (
            <Countdown instant={new Date(next_try_at)} />
          )}
        </span>
      </button>
      {isOpen && <AttemptDetails webhook={webhook} attempt={attempt} />}
    </li>
  )
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** `again in 1:50`, counting down; `again in 3 hours` when it is further away. */
function Countdown({ instant }: { readonly instant: Date }) {
  const t = useText()
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  const leftMs = instant.getTime() - nowMs
  if (leftMs <= 0 || leftMs >= HOUR_MS) return <Until instant={instant} text={t.webhooks.again} />
  const seconds = String(Math.floor((leftMs % MINUTE_MS) / SECOND_MS)).padStart(2, '0')
  return <>{t.webhooks.againIn(`${Math.floor(leftMs / MINUTE_MS)}:${seconds}`)}</>
}

function AttemptDetails({ webhook: { id, enabled }, attempt }: AttemptProps) {
  const t = useText()
  const client = useQueryClient()
  const { request, response, message_id, status } = attempt
  const { mutate, isPending } = useMutation({
    mutationFn: () => replay(id, { message_id }),
    onSuccess() {
      showMessage(t.webhooks.queuedAgain)
      void client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
    },
    onError: () => showError(t.common.unexpected),
  })
  const sent = `POST ${request.url}\n${headersText(request.headers)}\n\n${prettyJson(request.body)}`
  const answered =
    response === null
      ? t.webhooks.noAnswer
      : `${status}\n${headersText(response.headers)}\n\n${response.body}`
  return (
    <div className="att-b">
      <div className="rr">
        <Term label={t.webhooks.request} text={sent} />
        <Term label={t.webhooks.response} text={answered} />
      </div>
      <div className="flex gap-2 items-center">
        <Button size="small" isBusy={isPending} disabled={!enabled} onClick={() => mutate()}>
          {t.webhooks.sendNow}
        </Button>
        <CopyButton text={curlOf(attempt)} label={t.webhooks.copyCurl} />
      </div>
    </div>
  )
}

function Term({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard must be able to do
    <section className="term" aria-label={label} tabIndex={0}>
      {text}
    </section>
  )
}

function headersText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1)
  } catch {
    return text
  }
}

function curlOf({ request: { url, headers, body } }: AttemptResource): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const sent = Object.entries(headers).filter(([name]) => name !== 'content-length')
  const lines = sent.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  return ['curl -X POST', ...lines, `--data ${quoted(body)}`, quoted(url)].join(' \\\n  ')
}

function ReplayDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [undelivered, setUndelivered] = useState(true)
  const period = periodOf(from, to, undelivered)
  const { data: size } = useQuery(replaySizeQuery(id, period))
  const { mutate, isPending, error } = useMutation({
    mutationFn: (wanted: ReplayedPeriod) => replay(id, wanted),
    onSuccess() {
      showMessage(t.webhooks.replayStarted)
      void client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
      onClose()
    },
  })
  const faults = useFaults(error, ['from', 'to'])
  return (
    <FormDialog
      title={t.webhooks.replayTitle}
      verb={t.webhooks.replayPeriod}
      fault={faults.general}
      isBusy={isPending}
      isIncomplete={period === undefined}
      onSubmit={() => period !== undefined && mutate(period)}
      onClose={onClose}
    >
      <Field label={t.webhooks.replayFrom} errors={faults.of('from')}>
        {(control) => (
          <Input
            {...control}
            type="datetime-local"
            required
            value={from}
            onChange={({ target }) => setFrom(target.value)}
          />
        )}
      </Field>
      <Field label={t.webhooks.replayTo} hint={t.webhooks.replayToHint} errors={faults.of('to')}>
        {(control) => (
          <Input
            {...control}
            type="datetime-local"
            value={to}
            onChange={({ target }) => setTo(target.value)}
          />
        )}
      </Field>
      <label className="flex gap-2 items-center text-13">
        <input
          type="checkbox"
          className="cb"
          checked={undelivered}
          onChange={({ target }) => setUndelivered(target.checked)}
        />
        {t.webhooks.replayUndelivered}
      </label>
      <p className="hint" role="status">
        {size && (size.done ? t.webhooks.calls(size.queued) : t.webhooks.callsAtLeast(size.queued))}
      </p>
    </FormDialog>
  )
}

/** Undefined while the fields name no period. */
function periodOf(from: string, to: string, undelivered: boolean): ReplayedPeriod | undefined {
  if (from === '' || (to !== '' && to <= from)) return undefined
  return {
    from: new Date(from).toISOString(),
    ...(to !== '' && { to: new Date(to).toISOString() }),
    undelivered,
  }
}
