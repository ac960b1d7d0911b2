/** Seconds by which the time of a delivery may differ from that of the receiver. */
const TOLERANCE_SECONDS = 300
const SECRET_PREFIX = 'whsec_'
const VERSION = 'v1,'

/** A delivery that Terse did not sign with this secret, or not lately. */
export class WebhookError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WebhookError'
  }
}

export type Delivery = {
  /** As received: another spelling of the same JSON has another signature. */
  readonly body: string
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The secret of the endpoint, `whsec_…`. */
  readonly secret: string
  /** Milliseconds since 1970; the time of this machine by default. */
  readonly now?: number
}

/**
 * Returns the body of a delivery once its signature is proved (Standard Webhooks, version 1.0.0). An event may
 * be delivered more than once: `webhook-id` is the same each time.
 *
 * @throws {WebhookError} when it is not signed with the secret, or is older than five minutes
 */
export async function verifyWebhook<Event = unknown>(delivery: Delivery): Promise<Event> {
  const { body, headers, secret, now = Date.now() } = delivery
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headerOf(headers, name),
  )
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new WebhookError('the delivery has no headers of Standard Webhooks')
  }
  const age = Math.abs(now / 1_000 - Number(timestamp))
  if (!(age <= TOLERANCE_SECONDS))
    throw new WebhookError('the delivery is too old, or of the future')
  const key = await importKey(secret)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const signature of signatures.split(' ')) {
    const bytes = signature.startsWith(VERSION)
      ? bytesOf(signature.slice(VERSION.length))
      : undefined
    // Compares in a time that tells nothing of the right signature.
    if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
      return JSON.parse(body)
    }
  }
  throw new WebhookError('the delivery is not signed with this secret')
}

function headerOf(headers: Delivery['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = bytesOf(
    secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret,
  )
  if (bytes === undefined || bytes.length === 0)
    throw new WebhookError('the secret is not whsec_ and Base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
