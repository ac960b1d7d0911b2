import type { Logger } from 'pino'
import { webhookDisabledMail } from '../../identity/mails.ts'
import { permissionsOfRole } from '../../identity/permissions.ts'
import { SmtpMailer } from '../../platform/mail/smtp-mailer.ts'
import type { Instance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import type { DisabledNotice } from '../workers/webhook-process.ts'

const SENTENCES: Readonly<Record<DisabledNotice['reason'], string>> = {
  by_hand: '',
  failures: 'Nothing could be delivered for five days.',
  gone: 'It answered with 410, which asks for no more events.',
  overflow: 'More than 500,000 events waited for it.',
}

type Dependencies = {
  readonly mail: NonNullable<Config['mail']>
  readonly baseUrl: string
  readonly instance: Pick<Instance, 'store' | 'workspaces'>
  readonly log: Logger
}

/** Mails of webhooks that the service has disabled, to those who may enable them again. */
export class WebhookMails {
  readonly #deps: Dependencies
  readonly #mailer: SmtpMailer

  constructor(deps: Dependencies) {
    this.#deps = deps
    const { mail, log } = deps
    this.#mailer = new SmtpMailer({ url: mail.smtpUrl, from: mail.from, log })
  }

  /** Settles when the mails are queued. */
  async send({ id, workspace_id, name, reason }: DisabledNotice): Promise<void> {
    const { instance, baseUrl, log } = this.#deps
    const { title } = await instance.workspaces.getById(workspace_id)
    const members = await instance.store.read.memberships.listOfWorkspace(workspace_id)
    for (const { person, role } of members) {
      if (person.disabled_at !== null || !permissionsOfRole(role).has('webhooks.edit')) continue
      const content = {
        to: person.email,
        host: new URL(baseUrl).hostname,
        workspace: title,
        ...{ name, reason: SENTENCES[reason] },
        url: `${baseUrl}/settings/webhooks/${id}`,
      }
      this.#mailer.send(webhookDisabledMail(content), {
        kind: 'webhook_disabled',
        owner: workspace_id,
        onDropped: async (why) =>
          log.warn({ webhook: id, reason: why }, 'notice of a webhook dropped'),
      })
    }
  }

  stop(): Promise<void> {
    return this.#mailer.stop()
  }
}
