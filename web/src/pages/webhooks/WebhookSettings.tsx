import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeWebhook,
  endOldSecret,
  rotateSecret,
  WEBHOOKS_KEY,
  type WebhookChange,
  type WebhookResource,
} from '../../api/webhooks.ts'
import { CloseIcon, ReloadIcon } from '../../icons/index.ts'
import { TagInput } from '../../shell/TagInput.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button, IconButton } from '../../widgets/Button.tsx'
import { Field, FormNote, Input } from '../../widgets/Field.tsx'
import { Until } from '../../widgets/Time.tsx'
import { showError, showMessage } from '../../widgets/Toasts.tsx'
import { EventChoice } from './EventChoice.tsx'
import { WebhookSecret } from './NewWebhook.tsx'

type WebhookProps = { readonly webhook: WebhookResource }

/** What an endpoint is sent, where, and what signs it. */
export function WebhookSettings({ webhook }: WebhookProps) {
  const t = useText()
  const { id, enabled } = webhook
  const { mutate, error, isPending } = useChange(id)
  const [draft, setDraft] = useState<WebhookChange>({})
  const set = (change: WebhookChange) => setDraft({ ...draft, ...change })
  const now = { ...webhook, ...draft }
  const faults = useFaults(error, ['url', 'name', 'events', 'domains.0', 'tags'])
  return (
    <form
      className="grid gap-6"
      onSubmit={(event) => {
        event.preventDefault()
        mutate(draft)
      }}
    >
      <label className="flex gap-2 items-center text-13">
        <input
          type="checkbox"
          className="cb"
          checked={enabled}
          onChange={({ target }) => mutate({ enabled: target.checked })}
        />
        {t.webhooks.switch}
      </label>
      <FormNote text={faults.general} />
      <Field label={t.webhooks.url} errors={faults.of('url')}>
        {(control) => (
          <Input
            {...control}
            type="url"
            required
            value={now.url}
            onChange={({ target }) => set({ url: target.value })}
          />
        )}
      </Field>
      <Field label={t.webhooks.name} errors={faults.of('name')}>
        {(control) => (
          <Input
            {...control}
            required
            value={now.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Field>
      <Secret webhook={webhook} />
      <EventChoice chosen={now.events} onChange={(events) => set({ events })} />
      <OnlyFor now={now} set={set} errors={faults.of('domains.0')} />
      <div>
        <Button
          type="submit"
          look="ink"
          isBusy={isPending}
          disabled={Object.keys(draft).length === 0}
        >
          {t.common.save}
        </Button>
      </div>
    </form>
  )
}

function useChange(id: string) {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: WebhookChange) => changeWebhook(id, change),
    onSuccess(_, { enabled }) {
      const switched = enabled ? t.webhooks.switchedOn : t.webhooks.switchedOff
      showMessage(enabled === undefined ? t.webhooks.saved : switched)
      return client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
    },
  })
}

function OnlyFor(props: {
  readonly now: Pick<WebhookResource, 'ordered'> & Required<Pick<WebhookChange, 'domains' | 'tags'>>
  readonly set: (change: WebhookChange) => void
  readonly errors: readonly string[]
}) {
  const { now, set, errors } = props
  const t = useText()
  const [typed, setTyped] = useState(now.domains.join(', '))
  return (
    <section className="grid gap-3">
      <h2 className="sec-h">{t.webhooks.onlyFor}</h2>
      <Field label={t.webhooks.domains} hint={t.webhooks.domainsHint} errors={errors}>
        {(control) => (
          <Input
            {...control}
            autoCapitalize="none"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => {
              setTyped(target.value)
              const domains = target.value.split(',').map((name) => name.trim())
              set({ domains: domains.filter((name) => name !== '') })
            }}
          />
        )}
      </Field>
      <Field label={t.webhooks.tags}>
        {(control) => (
          <TagInput control={control} tags={now.tags} onChange={(tags) => set({ tags })} />
        )}
      </Field>
      <label className="flex gap-2 items-start text-13">
        <input
          type="checkbox"
          className="cb"
          checked={now.ordered}
          onChange={({ target }) => set({ ordered: target.checked })}
        />
        <span>
          {t.webhooks.order}
          <span className="hint block">{t.webhooks.orderHint}</span>
        </span>
      </label>
    </section>
  )
}

function Secret({ webhook: { id, secret_hint, old_secret } }: WebhookProps) {
  const t = useText()
  const client = useQueryClient()
  const refresh = () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
  const failed = () => showError(t.common.unexpected)
  const rotate = useMutation({ mutationFn: () => rotateSecret(id), onError: failed })
  const end = useMutation({
    mutationFn: () => endOldSecret(id),
    onSuccess() {
      showMessage(t.webhooks.oldEnded)
      void refresh()
    },
    onError: failed,
  })
  return (
    <section className="grid gap-2">
      <div className="flex items-center">
        <h2 className="sec-h">{t.webhooks.secret}</h2>
        <Button
          size="small"
          look="bare"
          className="ml-auto"
          icon={ReloadIcon}
          isBusy={rotate.isPending}
          onClick={() => rotate.mutate()}
        >
          {t.webhooks.rotate}
        </Button>
      </div>
      <ul className="secret">
        <li>
          <span className="grow">
            <span className="mono">whsec_…{secret_hint}</span>
            <small>{t.webhooks.newSecret}</small>
          </span>
        </li>
        {old_secret !== null && (
          <li>
            <span className="grow">
              <span className="mono">whsec_…{old_secret.hint}</span>
              <small>
                <Until instant={new Date(old_secret.until)} text={t.webhooks.oldSecret} />
              </small>
            </span>
            <IconButton icon={CloseIcon} label={t.webhooks.endOld} onClick={() => end.mutate()} />
          </li>
        )}
      </ul>
      {rotate.data !== undefined && (
        <WebhookSecret
          webhook={rotate.data}
          onClose={() => {
            rotate.reset()
            void refresh()
          }}
        />
      )}
    </section>
  )
}
