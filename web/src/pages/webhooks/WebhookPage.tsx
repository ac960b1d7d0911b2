import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import {
  changeWebhook,
  testWebhook,
  WEBHOOKS_KEY,
  type WebhookResource,
  webhookQuery,
} from '../../api/webhooks.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Ago } from '../../widgets/Time.tsx'
import { showError, showMessage } from '../../widgets/Toasts.tsx'
import { Attempts } from './Attempts.tsx'
import { WebhookMenu } from './WebhookMenu.tsx'
import { WebhookSettings } from './WebhookSettings.tsx'
import { StateBadge, sumsOf, useReason, useShare } from './WebhookState.tsx'

const route = getRouteApi('/shell/settings/webhooks/$webhookId')

/** One endpoint: how it does, its attempts and its settings. */
export default function WebhookPage() {
  const t = useText()
  const { webhookId } = route.useParams()
  const { data: webhook, error } = useQuery(webhookQuery(webhookId))
  const parent = <Link to="/settings/webhooks">{t.settings.pages.webhooks}</Link>
  return (
    <Page
      title={webhook?.name ?? t.settings.pages.webhooks}
      parent={parent}
      actions={webhook && <Acts webhook={webhook} />}
      isFlush
    >
      {webhook === undefined && error !== null && <LoadFailure error={error} />}
      {webhook !== undefined && (
        <div className="split-page">
          <div className="work">
            <Trouble webhook={webhook} />
            <Figures webhook={webhook} />
            <Attempts webhook={webhook} />
          </div>
          <aside className="beside" aria-label={t.settings.title}>
            <WebhookSettings key={webhook.updated_at} webhook={webhook} />
          </aside>
        </div>
      )}
    </Page>
  )
}

type WebhookProps = { readonly webhook: WebhookResource }

/** Sends a test, and says what was answered. */
function useTest({ id }: WebhookResource, onDelivered: () => void = () => {}) {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => testWebhook(id),
    onSuccess({ ok, status, fault, took_ms }) {
      const answer = status ?? (fault === null ? '' : t.webhooks.faults[fault])
      const said = t.webhooks.tested(String(answer), took_ms)
      if (ok) showMessage(said)
      else showError(said)
      if (ok) onDelivered()
      void client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
    },
    onError: () => showError(t.common.unexpected),
  })
}

function Acts({ webhook }: WebhookProps) {
  const t = useText()
  const navigate = useNavigate()
  const { mutate, isPending } = useTest(webhook)
  return (
    <>
      <WebhookMenu webhook={webhook} onDeleted={() => navigate({ to: '/settings/webhooks' })} />
      <Button isBusy={isPending} onClick={() => mutate()}>
        {t.webhooks.sendTest}
      </Button>
    </>
  )
}

function Trouble({ webhook }: WebhookProps) {
  const t = useText()
  const client = useQueryClient()
  const reason = useReason(webhook)
  const { mutate: enable } = useMutation({
    mutationFn: () => changeWebhook(webhook.id, { enabled: true }),
    onSuccess() {
      showMessage(t.webhooks.switchedOn)
      void client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
    },
    onError: () => showError(t.common.unexpected),
  })
  const { mutate: test, isPending } = useTest(webhook, () => enable())
  if (reason === undefined) return null
  return (
    <div className={webhook.enabled ? 'note warn' : 'note bad'}>
      <div className="grid gap-2">
        <p>{reason}</p>
        {!webhook.enabled && (
          <div>
            <Button look="ink" size="small" isBusy={isPending} onClick={() => test()}>
              {t.webhooks.testThenOn}
            </Button>
          </div>
        )}
      </div>
    </div>
  )
}

function Figures({ webhook }: WebhookProps) {
  const t = useText()
  const share = useShare(webhook)
  const { delivered, failed } = sumsOf(webhook)
  const { answer_ms: answer, waiting, oldest_waiting_at: oldest } = webhook
  const since = webhook.disabled_at ?? webhook.failing_since ?? webhook.created_at
  return (
    <div className="sheet">
      <div className="kpis hook-figures">
        <Figure name={t.webhooks.state} note={<Ago instant={new Date(since)} />}>
          <StateBadge webhook={webhook} />
        </Figure>
        <Figure
          name={t.webhooks.delivered}
          note={t.webhooks.ofCalls(delivered, delivered + failed)}
        >
          {share ?? '–'}
        </Figure>
        <Figure name={t.webhooks.answer} note={answer && t.webhooks.answerP95(answer.p95)}>
          {answer === null ? '–' : t.webhooks.answerMs(answer.median)}
        </Figure>
        <Figure
          name={t.webhooks.waiting}
          note={oldest !== null && <Ago instant={new Date(oldest)} text={t.webhooks.oldest} />}
        >
          {waiting}
        </Figure>
      </div>
    </div>
  )
}

function Figure(props: {
  readonly name: string
  readonly note: React.ReactNode
  readonly children: React.ReactNode
}) {
  return (
    <div className="kpi">
      <span className="k">{props.name}</span>
      <span className="v">{props.children}</span>
      <span className="d">{props.note}</span>
    </div>
  )
}
