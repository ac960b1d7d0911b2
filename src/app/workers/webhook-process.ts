import { constants, setPriority } from 'node:os'
import { systemRandom } from '../../platform/crypto/random.ts'
import { networksOf } from '../../platform/network/ip-address.ts'
import type { Disabled } from '../../webhooks/deliveries.ts'
import { startSender } from '../../webhooks/sender.ts'
import type { Webhook } from '../../webhooks/webhook.ts'
import { createLogger } from '../cli/open-config.ts'
import { openInstance } from '../composition/instance.ts'
import { openCaller } from '../composition/webhooks.ts'
import type { Config } from '../config/config.ts'

/** What the process is sent. Structured clones do not keep the networks of the settings. */
export type WebhookTask = { readonly config: Config; readonly allowed: readonly string[] }

/**
 * What it sends when it has disabled an endpoint. Its node sends the mails: with the last endpoint this process ends, and
 * a mail may take minutes.
 */
export type DisabledNotice = Pick<Webhook, 'id' | 'workspace_id' | 'name'> &
  Pick<Disabled, 'reason'>

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
  const sender = startSender({
    ...{ store, clock, log },
    random: systemRandom,
    caller: openCaller(config, instance).caller,
    onDisabled({ webhook: { id, workspace_id, name }, reason }) {
      log.warn({ webhook: id, workspace: workspace_id, reason }, 'webhook disabled')
      const notice: DisabledNotice = { id, workspace_id, name, reason }
      process.send?.(notice, undefined, undefined, (err: Error | null) => {
        if (err !== null) log.warn({ err, webhook: id }, 'notice of a webhook dropped')
      })
    },
  })
  await stopped.promise
  await sender.stop()
  await instance.close()
}
