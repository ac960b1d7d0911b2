import { createHmac } from 'node:crypto'
import type { Random } from '../platform/crypto/random.ts'
import type { Sealing } from '../platform/crypto/sealing.ts'
import { Failure } from '../platform/failure.ts'
import type { Webhook } from './webhook.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const SECRET_BYTES_MIN = 24
const SECRET_BYTES_MAX = 64
const HINT_LENGTH = 4
/** For how long the secret before a rotation signs too. */
export const OLD_SECRET_MICROS = 24 * 60 * 60 * 1_000_000

export type Secret = { readonly text: string; readonly sealed: string; readonly hint: string }

/** The secrets of endpoints, sealed in the database. */
export class WebhookSecrets {
  readonly #sealing: Sealing
  readonly #random: Random
  /** What was unsealed of an endpoint as it was read: it signs many calls. */
  readonly #unsealed = new WeakMap<Webhook, Unsealed>()

  constructor(deps: { sealing: Sealing; random: Random }) {
    this.#sealing = deps.sealing
    this.#random = deps.random
  }

  /**
   * Returns the secret that was given, or a new one.
   *
   * @throws {Failure} `validation_failed` for a text of another form
   */
  take(webhookId: string, given: string | undefined): Secret {
    const text = given ?? PREFIX + Buffer.from(this.#random(SECRET_BYTES)).toString('base64')
    if (keyOf(text) === undefined) throw Failure.invalid({ secret: [{ code: 'invalid_secret' }] })
    const sealed = this.#sealing.seal(Buffer.from(text), webhookId).toString('base64')
    return { text, sealed, hint: text.slice(-HINT_LENGTH) }
  }

  /** Returns the secrets that sign now; none when the key of the instance is another one. */
  of(webhook: Webhook, now: number): string[] {
    const { old_secret_until: until } = webhook
    const { current, old } = this.#unsealedOf(webhook)
    return [current, until !== null && now < until ? old : undefined].filter(
      (secret) => secret !== undefined,
    )
  }

  #unsealedOf(webhook: Webhook): Unsealed {
    const known = this.#unsealed.get(webhook)
    if (known !== undefined) return known
    const unseal = (sealed: string | null) =>
      sealed === null
        ? undefined
        : this.#sealing.unseal(Buffer.from(sealed, 'base64'), webhook.id)?.toString()
    const { sealed_secret, old_sealed_secret } = webhook
    const unsealed = { current: unseal(sealed_secret), old: unseal(old_sealed_secret) }
    this.#unsealed.set(webhook, unsealed)
    return unsealed
  }
}

type Unsealed = { readonly current: string | undefined; readonly old: string | undefined }

/** Returns the key of a secret; undefined for a text of another form. */
function keyOf(secret: string): Buffer | undefined {
  if (!secret.startsWith(PREFIX)) return undefined
  const text = secret.slice(PREFIX.length)
  const key = Buffer.from(text, 'base64')
  const isBase64 =
    key.toString('base64') === text || key.toString('base64').replace(/=+$/, '') === text
  return isBase64 && key.length >= SECRET_BYTES_MIN && key.length <= SECRET_BYTES_MAX
    ? key
    : undefined
}

/**
 * Returns the headers of a call by Standard Webhooks: its id, the time of the attempt, and a signature of id, time and
 * body by each secret.
 */
export function signedHeaders(
  { message_id, body }: { readonly message_id: string; readonly body: string },
  secrets: readonly string[],
  nowMicros: number,
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(nowMicros / 1_000_000))
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', keyOf(secret) ?? '')
    return `v1,${hmac.update(`${message_id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': message_id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
