import {
  TEST_EVENT,
  WEBHOOK_BODIES,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from '@terse/contract/webhook-events'
import { z } from 'zod'

const TEST = { summary: 'A test was requested' }
const CALL =
  'Sent to the URL of each endpoint that has this event, signed as Standard Webhooks describes. Answer within 15 s.'
const CALL_HEADERS = [
  { name: 'webhook-id', description: 'The same for each attempt of a call.' },
  { name: 'webhook-timestamp', description: 'When the attempt began, in Unix seconds.' },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` in base64; two of them, with a space between, for 24 hours after a rotation.',
  },
].map((header) => ({ ...header, in: 'header', required: true, schema: { type: 'string' } }))

/** Returns the calls that webhooks make, by their events, and the schemas of their bodies. */
export function webhookCalls() {
  const schemas: Record<string, object> = {}
  const webhooks: Record<string, object> = {}
  for (const [event, body] of Object.entries(WEBHOOK_BODIES)) {
    const name = `Webhook${event.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`
    const { $schema: _, ...schema } = z.toJSONSchema(body)
    const { summary } = event === TEST_EVENT ? TEST : WEBHOOK_EVENTS[event as WebhookEvent]
    schemas[name] = schema
    webhooks[event] = {
      post: {
        tags: ['Webhooks'],
        operationId: `webhook.${event}`,
        summary,
        description: CALL,
        parameters: CALL_HEADERS,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
        },
        responses: {
          '2XX': { description: 'Delivered. The body is ignored.' },
          '410': { description: 'Disables the endpoint.' },
          default: { description: 'Tried again, for five days.' },
        },
        security: [],
      },
    }
  }
  return { schemas, webhooks }
}
