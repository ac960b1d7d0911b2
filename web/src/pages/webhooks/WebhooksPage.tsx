import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  createWebhook,
  deleteWebhook,
  type SecretWebhook,
  WEBHOOKS_KEY,
  type WebhookResource,
  webhooksQuery,
} from '../../api/webhooks.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, MoreIcon, TrashIcon } from '../../icons/index.ts'
import { ConfirmDialog, SecretDialog } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { Menu, MenuItem } from '../../widgets/Menu.tsx'
import { RowsSkeleton, Section } from '../settings/Section.tsx'
import { EventChoice } from './EventChoice.tsx'
import { HalfDays, StateBadge, useReason } from './WebhookState.tsx'

/** The endpoints of the workspace, and how they do. */
export default function WebhooksPage() {
  const t = useText()
  const { data: webhooks, error } = useQuery(webhooksQuery)
  const [isAdding, setAdding] = useState(false)
  return (
    <>
      <Section
        title={t.settings.pages.webhooks}
        hint={t.webhooks.hint}
        isFirst
        actions={
          <Button icon={AddIcon} onClick={() => setAdding(true)}>
            {t.webhooks.add}
          </Button>
        }
      >
        {webhooks === undefined && error === null && <RowsSkeleton />}
        {webhooks === undefined && error !== null && <LoadFailure error={error} />}
        {webhooks?.length === 0 && <p className="muted">{t.webhooks.none}</p>}
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
    </>
  )
}

const EVENTS_SHOWN = 2

function WebhookRow({ webhook }: { readonly webhook: WebhookResource }) {
  const t = useText()
  const reason = useReason(webhook)
  const [isDeleting, setDeleting] = useState(false)
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
      <Menu
        trigger={
          <button className="ib" type="button" aria-label={t.settings.actionsFor(name)}>
            <Icon of={MoreIcon} />
          </button>
        }
      >
        <MenuItem icon={TrashIcon} isDangerous onSelect={() => setDeleting(true)}>
          {t.common.delete}
        </MenuItem>
      </Menu>
      {reason !== undefined && (
        <p className={webhook.state === 'disabled' ? 'what bad' : 'what warn'}>{reason}</p>
      )}
      {isDeleting && (
        <ConfirmDialog
          title={t.webhooks.deleteTitle(name)}
          text={t.webhooks.deleteText}
          verb={t.common.delete}
          act={() => deleteWebhook(id)}
          keys={[WEBHOOKS_KEY]}
          message={t.webhooks.deleted(name)}
          onClose={() => setDeleting(false)}
        />
      )}
    </li>
  )
}

/** What most endpoints want. */
const USUAL = ['link.created', 'link.changed', 'link.deleted'] as const

function NewWebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [events, setEvents] = useState<WebhookResource['events']>([...USUAL])
  const { mutate, isPending, error, data } = useMutation<SecretWebhook, Error>({
    mutationFn: () => createWebhook({ url, events, ...(name.trim() && { name: name.trim() }) }),
    onSuccess: () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY }),
  })
  const faults = useFaults(error, ['url', 'name', 'events'])
  if (data !== undefined) return <WebhookSecret webhook={data} onClose={onClose} />
  return (
    <FormDialog
      title={t.webhooks.addTitle}
      verb={t.webhooks.add}
      fault={faults.general}
      isBusy={isPending}
      isIncomplete={url.trim() === '' || events.length === 0}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.webhooks.url} hint={t.webhooks.urlHint} errors={faults.of('url')}>
        {(control) => (
          <Input
            {...control}
            type="url"
            required
            autoFocus
            placeholder="https://"
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        )}
      </Field>
      <Field label={t.webhooks.name} hint={t.webhooks.nameHint} errors={faults.of('name')}>
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <EventChoice chosen={events} onChange={setEvents} />
    </FormDialog>
  )
}

/** Shows a secret, once. */
export function WebhookSecret(props: {
  readonly webhook: SecretWebhook
  readonly onClose: () => void
}) {
  const t = useText()
  return (
    <SecretDialog
      title={t.webhooks.secretTitle}
      text={t.webhooks.secretText}
      label={t.webhooks.secret}
      secret={props.webhook.secret}
      copyLabel={t.webhooks.copySecret}
      onClose={props.onClose}
    />
  )
}
