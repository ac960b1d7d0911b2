import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type SecretWebhook, type WebhookResource, webhooksQuery } from '../../api/webhooks.ts'
import { AddIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { RowsSkeleton, Section } from '../settings/Section.tsx'
import { FirstWebhook, NewWebhookDialog, WebhookSecret } from './NewWebhook.tsx'
import { WebhookMenu } from './WebhookMenu.tsx'
import { HalfDays, StateBadge, useReason } from './WebhookState.tsx'

/** The endpoints of the workspace, and how they do. */
export default function WebhooksPage() {
  const t = useText()
  const { data: webhooks, error } = useQuery(webhooksQuery)
  const [isAdding, setAdding] = useState(false)
  const [first, setFirst] = useState<SecretWebhook>()
  return (
    <>
      <Section
        title={t.settings.pages.webhooks}
        hint={t.webhooks.hint}
        isFirst
        actions={
          webhooks?.length !== 0 && (
            <Button icon={AddIcon} onClick={() => setAdding(true)}>
              {t.webhooks.add}
            </Button>
          )
        }
      >
        {webhooks === undefined && error === null && <RowsSkeleton />}
        {webhooks === undefined && error !== null && <LoadFailure error={error} />}
        {webhooks?.length === 0 && <FirstWebhook onCreated={setFirst} />}
        {webhooks !== undefined && webhooks.length > 0 && (
          <ul className="hooks" aria-label={t.settings.pages.webhooks}>
            {webhooks.map((webhook) => (
              <WebhookRow key={webhook.id} webhook={webhook} />
            ))}
          </ul>
        )}
      </Section>
      <Section title={t.webhooks.verifyTitle} hint={t.webhooks.verifyText} />
      {isAdding && <NewWebhookDialog onClose={() => setAdding(false)} />}
      {first !== undefined && <WebhookSecret webhook={first} onClose={() => setFirst(undefined)} />}
    </>
  )
}

const EVENTS_SHOWN = 2

function WebhookRow({ webhook }: { readonly webhook: WebhookResource }) {
  const t = useText()
  const reason = useReason(webhook)
  const { id, name, url, events, domains, tags } = webhook
  const shown = events.slice(0, EVENTS_SHOWN).map((event) => t.webhooks.events[event])
  const more = events.length - shown.length
  return (
    <li className="hook">
      <span className="nm">
        <b className="cut">
          <Link to="/settings/webhooks/$webhookId" params={{ webhookId: id }}>
            {name}
          </Link>
        </b>
        <span className="cut">{url.replace(/^https?:\/\//, '')}</span>
      </span>
      <span className="ev">
        <span className="cut">
          {shown.join(', ')} {more > 0 && t.webhooks.moreEvents(more)}
        </span>
        <span className="cut">{[...domains, ...tags].join(', ')}</span>
      </span>
      <span className="ratio">
        <HalfDays webhook={webhook} />
      </span>
      <StateBadge webhook={webhook} />
      <WebhookMenu webhook={webhook} />
      {reason !== undefined && (
        <p className={webhook.state === 'disabled' ? 'what bad' : 'what warn'}>{reason}</p>
      )}
    </li>
  )
}
