import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  createWebhook,
  type SecretWebhook,
  WEBHOOK_GROUPS,
  WEBHOOKS_KEY,
  type WebhookChange,
  type WebhookResource,
} from '../../api/webhooks.ts'
import { SecretDialog } from '../../shell/ConfirmDialog.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, FormNote, Input } from '../../widgets/Field.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { EventChoice } from './EventChoice.tsx'

/** What most endpoints want. */
const USUAL = ['link.created', 'link.changed', 'link.deleted'] as const

function useCreate(onCreated?: (webhook: SecretWebhook) => void) {
  const client = useQueryClient()
  const creation = useMutation<SecretWebhook, Error, WebhookChange & { readonly url: string }>({
    mutationFn: createWebhook,
    onSuccess(webhook) {
      onCreated?.(webhook)
      return client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
    },
  })
  return { ...creation, faults: useFaults(creation.error, ['url', 'name', 'events']) }
}

type NewWebhookDialogProps = {
  /** The endpoint whose settings the new one gets. */
  readonly from?: WebhookResource
  readonly onClose: () => void
}

export function NewWebhookDialog({ from, onClose }: NewWebhookDialogProps) {
  const t = useText()
  const [url, setUrl] = useState(from?.url ?? '')
  const [name, setName] = useState(from === undefined ? '' : t.webhooks.copyOf(from.name))
  const [events, setEvents] = useState<WebhookResource['events']>(from?.events ?? [...USUAL])
  const { mutate, isPending, data, faults } = useCreate()
  if (data !== undefined) return <WebhookSecret webhook={data} onClose={onClose} />
  const kept = from && { domains: from.domains, tags: from.tags, ordered: from.ordered }
  return (
    <FormDialog
      title={t.webhooks.addTitle}
      verb={t.webhooks.add}
      fault={faults.general}
      isBusy={isPending}
      isIncomplete={url.trim() === '' || events.length === 0}
      onSubmit={() => mutate({ ...kept, url, events, ...(name.trim() && { name: name.trim() }) })}
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

/** What an endpoint is first added for. */
const CHOICES = ['links', 'visitors', 'domains'] as const

type FirstWebhookProps = {
  /** Shows its secret: this form goes when the list is no longer empty. */
  readonly onCreated: (webhook: SecretWebhook) => void
}

/** The form itself, then the same in a terminal. */
export function FirstWebhook({ onCreated }: FirstWebhookProps) {
  const t = useText()
  const [url, setUrl] = useState('')
  const [choice, setChoice] = useState<(typeof CHOICES)[number]>('links')
  const { mutate, isPending, faults } = useCreate(onCreated)
  const events = [...WEBHOOK_GROUPS[choice]]
  const command = `curl ${location.origin}/api/v1/webhooks \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ url: 'https://hooks.example.com/', events }, null, 2)}'`
  return (
    <div className="grid gap-6 hook-first">
      <div className="grid gap-1">
        <h3 className="sec-h">{t.webhooks.none}</h3>
        <p className="muted">{t.webhooks.noneHint}</p>
      </div>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isPending) mutate({ url, events })
        }}
      >
        <FormNote text={faults.general} />
        <Field label={t.webhooks.url} hint={t.webhooks.urlHint} errors={faults.of('url')}>
          {(control) => (
            <Input
              {...control}
              type="url"
              required
              placeholder="https://"
              value={url}
              onChange={({ target }) => setUrl(target.value)}
            />
          )}
        </Field>
        <div className="flex gap-3 items-center flex-wrap">
          <SegmentedControl
            label={t.webhooks.calledWhen}
            value={choice}
            choices={CHOICES.map((one) => [one, t.webhooks.groups[one]] as const)}
            onChange={setChoice}
          />
          <Button type="submit" look="ink" className="ml-auto" isBusy={isPending}>
            {t.webhooks.add}
          </Button>
        </div>
      </form>
      <div className="grid gap-2">
        <p className="muted">{t.webhooks.terminal}</p>
        <div className="cmd">
          <pre className="term">{command}</pre>
          <CopyButton text={command} label={t.empty.copyCommand} />
        </div>
      </div>
    </div>
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
