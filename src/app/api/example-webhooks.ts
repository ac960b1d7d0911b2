import type { AttemptResource, WebhookResource } from '@terse/contract/webhooks'

const HALF_DAY_MS = 12 * 60 * 60 * 1_000
const FIRST_HALF_DAY_MS = Date.UTC(2026, 10, 16, 12)

const URL = 'https://hooks.example.com/terse'

const WEBHOOK: WebhookResource = {
  id: '01a1f890-2f3e-7d4c-9b5a-6978f8e7d6c5',
  workspace_id: '01a1f86c-3f0a-7c21-9b1e-5d0c8a4f7e11',
  name: 'Shop backend',
  url: URL,
  events: ['link.created', 'link.clicked'],
  domains: ['go.example.com'],
  tags: [],
  ordered: false,
  enabled: true,
  state: 'healthy',
  disabled_at: null,
  disabled_reason: null,
  failing_since: null,
  fault: null,
  fault_status: null,
  secret_hint: 'q7Rk',
  old_secret: null,
  waiting: 0,
  oldest_waiting_at: null,
  next_try_at: null,
  answer_ms: { median: 64, p95: 210 },
  half_days: Array.from({ length: 14 }, (_, nth) => ({
    start: new Date(FIRST_HALF_DAY_MS + nth * HALF_DAY_MS).toISOString().replace('Z', '000Z'),
    delivered: 860 + nth,
    failed: nth === 9 ? 3 : 0,
  })),
  replay: null,
  created_at: '2026-11-20T10:06:50.363298Z',
  updated_at: '2026-11-21T08:15:02.190512Z',
}

const ATTEMPT: AttemptResource = {
  id: '1204',
  message_id: 'evt_gsv3k0y1z7_xg',
  event: 'link.created',
  summary: 'go.example.com/spring',
  try: 1,
  at: '2026-11-22T18:40:00.000000Z',
  took_ms: 64,
  ok: true,
  status: 200,
  fault: null,
  next_try_at: null,
  request: {
    url: URL,
    headers: { 'webhook-id': 'evt_gsv3k0y1z7_xg', 'webhook-timestamp': '1795372800' },
    body: '{"type":"link.created"}',
  },
  response: { headers: { 'content-type': 'text/plain' }, body: 'ok' },
}

/** Examples of webhooks, by the names of their schemas. */
export const WEBHOOK_EXAMPLES: Readonly<Record<string, unknown>> = {
  Webhook: WEBHOOK,
  CreatedWebhook: { ...WEBHOOK, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' },
  WebhookAttempt: ATTEMPT,
}
