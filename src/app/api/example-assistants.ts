import type { AssistantPreview, AssistantResource } from '@terse/contract/assistants'
import type { CompatResource } from '@terse/contract/compat'

const CLIENT = { id: 'https://assistant.example/client.json', name: 'Orbit Desktop' }

const CALLBACK = 'http://127.0.0.1:33418/callback'
const ANSWERED = 'state=af0ifjsldkj&iss=https%3A%2F%2Fgo.example.com'

const PREVIEW: AssistantPreview = {
  client: CLIENT,
  callback: { kind: 'local', place: '127.0.0.1:33418' },
  scopes: ['links:read', 'links:write'],
  refused: null,
  cancel: `${CALLBACK}?error=access_denied&${ANSWERED}`,
}

const ASSISTANT: AssistantResource = {
  id: '01a1f8a0-4b5c-7d6e-8f7a-8b9c0d1e2f3a',
  client: CLIENT,
  person: { id: '01a1f86a-1b2c-7d3e-8f40-a1b2c3d4e5f6', name: 'Ada Lovelace' },
  scopes: ['links:read', 'links:write'],
  created_at: '2026-11-20T10:06:50.363298Z',
  expires_at: '2027-02-18T10:06:50.363298Z',
  last_used_at: '2026-11-22T18:40:00.000000Z',
}

const COMPAT: CompatResource = {
  service: 'kutt',
  enabled: true,
  address: 'https://go.example.com/api/v2',
}

/** Examples of assistants and other programs, by the names of their schemas. */
export const ASSISTANT_EXAMPLES: Readonly<Record<string, unknown>> = {
  AssistantPreview: PREVIEW,
  Assistant: ASSISTANT,
  CreatedAssistant: {
    ...ASSISTANT,
    last_used_at: null,
    redirect_to: `${CALLBACK}?code=terse_code_Lv9o5DhuRqfdgwaOgHfx5pjDRGzPPE2hl2Ufq0aZ&${ANSWERED}`,
  },
  Compat: COMPAT,
  AssistantSettings: { enabled: true, address: 'https://go.example.com/mcp' },
}
