import { systemRandom } from '../../platform/crypto/random.ts'
import { sealing } from '../../platform/crypto/sealing.ts'
import { isPrivateAddress } from '../../platform/network/ip-address.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import { WebhookCaller } from '../../webhooks/caller.ts'
import { WebhookSecrets } from '../../webhooks/signature.ts'
import { WEBHOOK_TEST_QUEUE, Webhooks } from '../../webhooks/webhooks.ts'
import type { Config } from '../config/config.ts'
import type { AppContext, Instance } from './instance.ts'

/** Opens what calls endpoints, and the secrets that sign the calls. */
export function openCaller(
  { baseUrl, webhookNetworks }: Pick<Config, 'baseUrl' | 'webhookNetworks'>,
  { clock, instanceKey }: Pick<Instance, 'clock' | 'instanceKey'>,
) {
  const key = deriveKey(instanceKey, 'webhook-secrets')
  const secrets = new WebhookSecrets({ sealing: sealing(key, systemRandom), random: systemRandom })
  const mayReach = (address: string) => !isPrivateAddress(address) || webhookNetworks.has(address)
  return { secrets, mayReach, caller: new WebhookCaller({ clock, secrets, mayReach, baseUrl }) }
}

/** Opens the operations on webhooks, for the API. */
export function openWebhooks({ config, instance, queues, serviceHost }: AppContext): Webhooks {
  const { store, clock } = instance
  return new Webhooks({
    ...{ store, clock, random: systemRandom, serviceHost },
    ...openCaller(config, instance),
    tests: queues.open(WEBHOOK_TEST_QUEUE),
  })
}
