import { constants, setPriority } from 'node:os'
import type { Logger } from 'pino'
import { webhookDisabledMail } from '../../identity/mails.ts'
import { permissionsOfRole } from '../../identity/permissions.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { SmtpMailer } from '../../platform/mail/smtp-mailer.ts'
import { networksOf } from '../../platform/network/ip-address.ts'
import type { Disabled } from '../../webhooks/deliveries.ts'
import { startSender } from '../../webhooks/sender.ts'
import { createLogger } from '../cli/open-config.ts'
import { type Instance, logUnexpected, openInstance } from '../composition/instance.ts'
import { openCaller } from '../composition/webhooks.ts'
import type { Config } from '../config/config.ts'

/** What the process is sent. Structured clones do not keep the networks of the settings. */
export type WebhookTask = { readonly config: Config; readonly allowed: readonly string[] }

/** Within this time it ends after its node has, also while the database does not answer. */
const ORPHAN_MS_MAX = 5_000

const stopped = Promise.withResolvers<void>()
const stop = () => stopped.resolve()

setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
process.on('SIGTERM', stop)
// A terminal sends SIGINT to all processes of the service.
process.on('SIGINT', stop)
// The node has ended: another one, or its next start, goes on.
process.once('disconnect', () => {
  stop()
  setTimeout(() => process.exit(1), ORPHAN_MS_MAX).unref()
})
process.once('message', async (task: WebhookTask) => {
  await sendWebhooks(task)
  process.exit()
})

async function sendWebhooks({ config: sent, allowed }: WebhookTask): Promise<void> {
  const config = { ...sent, webhookNetworks: networksOf(allowed) }
  const log = createLogger(config, { part: 'webhooks' })
  const instance = await openInstance(config, log, { mustExist: true })
  const { store, clock } = instance
  const { mail } = config
  const mailer = mail && new SmtpMailer({ url: mail.smtpUrl, from: mail.from, log })
  const onMailError = logUnexpected(log, 'mail of a disabled webhook')
  const sender = startSender({
    ...{ store, clock, log },
    random: systemRandom,
    caller: openCaller(config, instance).caller,
    onDisabled(disabled) {
      const { id, workspace_id: workspace } = disabled.webhook
      log.warn({ webhook: id, workspace, reason: disabled.reason }, 'webhook disabled')
      if (mailer === undefined) return
      mailAdmins({ instance, mailer, log, baseUrl: config.baseUrl }, disabled).catch(onMailError)
    },
  })
  await stopped.promise
  await sender.stop()
  await mailer?.stop()
  await instance.close()
}

const SENTENCES: Readonly<Record<Disabled['reason'], string>> = {
  by_hand: '',
  failures: 'Nothing could be delivered for five days.',
  gone: 'It answered with 410, which asks for no more events.',
  overflow: 'More than 500,000 events waited for it.',
}

/** Tells those who may enable the webhook again. */
async function mailAdmins(
  on: {
    readonly instance: Instance
    readonly mailer: SmtpMailer
    readonly log: Logger
    readonly baseUrl: string
  },
  { webhook, reason }: Disabled,
): Promise<void> {
  const { instance, mailer, log, baseUrl } = on
  const { id, workspace_id, name } = webhook
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
    mailer.send(webhookDisabledMail(content), {
      kind: 'webhook_disabled',
      owner: workspace_id,
      onDropped: async (why) =>
        log.warn({ webhook: id, reason: why }, 'notice of a webhook dropped'),
    })
  }
}
