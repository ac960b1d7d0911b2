import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { compatToken } from '../support/compat.ts'
import { createLink, type LinkBody } from '../support/links.ts'
import { onEachEngine, onSqlite, type Stage } from '../support/on-each-engine.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'
import { visit } from '../support/visit.ts'

const URL_TO = 'https://google.com/'

/** Sends a request of Polr's documentation: parameters in the query, or in a form. */
async function send(
  { service }: Pick<Stage, 'service'>,
  path: string,
  parameters: Record<string, string>,
  isForm = false,
) {
  const text = new URLSearchParams(parameters)
  const url = `${service.baseUrl}/api/v2/${path}`
  const response = isForm
    ? await fetch(url, { method: 'POST', body: text })
    : await fetch(`${url}?${text}`)
  const body = await response.text()
  const type = response.headers.get('content-type') ?? ''
  return {
    ...{ response, status: response.status, type },
    body: type.startsWith('application/json') ? JSON.parse(body) : body,
  }
}

const failure = (status_code: number, error_code: string, error: string) => ({
  ...{ status_code, error_code, error },
})

onEachEngine('the API of Polr', (stage) => {
  let key: string
  before(async () => {
    key = await compatToken(stage.service, 'compat:polr')
  })
  const get = (path: string, parameters: Record<string, string> = {}) =>
    send(stage, path, { key, ...parameters })
  const post = (path: string, parameters: Record<string, string> = {}) =>
    send(stage, path, { key, ...parameters }, true)

  test('shortens a URL, and answers in text or JSON', async () => {
    const custom = { url: URL_TO, custom_ending: 'polr', is_secret: 'false' }
    const plain = await get('action/shorten', custom)
    assert.deepEqual([plain.status, plain.body], [200, 'https://localhost/polr'])
    assert.match(plain.type, /^text\/plain/)
    const known = await post('action/shorten', { url: URL_TO, response_type: 'json' })
    assert.deepEqual(known.body, { action: 'shorten', result: 'https://localhost/polr' })
    assert.equal(known.response.headers.get('access-control-allow-origin'), '*')
    const taken = await get('action/shorten', { ...custom, response_type: 'json' })
    const inUse = failure(400, 'CREATION_ERROR', 'This URL ending is already in use.')
    assert.deepEqual([taken.status, taken.body], [400, inUse])
    const text = await get('action/shorten', custom)
    assert.equal(text.body, '400 This URL ending is already in use.')
  })

  test('makes secret links, which are found with their secret alone', async () => {
    const url = 'https://example.com/secret'
    const sent = { url, custom_ending: 'hidden', is_secret: 'true' }
    const { body } = await get('action/shorten', sent)
    const [, secret = ''] = /^https:\/\/localhost\/hidden\/([0-9a-f]+)$/.exec(body) ?? []
    const closed = await visit(stage.service.port, '/hidden')
    const open = await visit(stage.service.port, `/hidden/${secret}`)
    assert.deepEqual([closed.status, open.headers.location], [404, url])
    const found = await get('action/lookup', { url_ending: 'hidden', url_key: secret })
    assert.equal(found.body, url)
    const other = await get('action/lookup', { url_ending: 'hidden', url_key: 'beef' })
    assert.deepEqual([other.status, other.body], [404, '404 Link not found.'])
    const again = await get('action/shorten', { url })
    assert.match(again.body, /^https:\/\/localhost\/[^/]+$/, 'is not reused')
    const generated = await get('action/shorten', { url, is_secret: 'true' })
    assert.match(generated.body, /^https:\/\/localhost\/[0-9a-f]{8}\/[0-9a-f]{16}$/)
  })

  test('looks up a link', async () => {
    const { created_at } = await createLink(stage.api, { key: 'known', url: URL_TO })
    const { body } = await get('action/lookup', { url_ending: 'known', response_type: 'json' })
    const date = {
      ...{ date: created_at.replace('T', ' ').slice(0, -1), timezone_type: 3, timezone: 'UTC' },
    }
    const result = { long_url: URL_TO, created_at: date, clicks: '0', updated_at: date }
    assert.deepEqual(body, { action: 'lookup', result })
    const unknown = await get('action/lookup', { url_ending: 'unknown', response_type: 'json' })
    assert.deepEqual(unknown.body, failure(404, 'NOT_FOUND', 'Link not found.'))
  })

  test('shortens many at once', async () => {
    const data = JSON.stringify({
      links: [
        { url: 'https://polrproject.org/' },
        { url: 'https://youtube.com', is_secret: true },
        { url: 'https://github.com/cydrobolt/polr', custom_ending: 'polrgithub' },
      ],
    })
    const { body } = await post('action/shorten_bulk', { data })
    assert.equal(body.action, 'shorten_bulk')
    const [first, second, third] = body.result.shortened_links
    assert.equal(first.long_url, 'https://polrproject.org/')
    assert.match(second.short_url, /^https:\/\/localhost\/[0-9a-f]+\/[0-9a-f]+$/)
    assert.deepEqual(third, {
      long_url: 'https://github.com/cydrobolt/polr',
      short_url: 'https://localhost/polrgithub',
    })
    const refusals: readonly (readonly [Record<string, string>, object])[] = [
      [{ data: '{' }, failure(400, 'INVALID_PARAMETERS', 'Invalid JSON.')],
      [
        { data: '{"links":[{}]}' },
        failure(400, 'MISSING_PARAMETERS', 'Invalid or missing parameters.'),
      ],
      [
        { data: JSON.stringify({ links: Array(101).fill({ url: URL_TO }) }) },
        failure(400, 'INVALID_PARAMETERS', 'At most 100 links may be sent at once.'),
      ],
    ]
    for (const [sent, expected] of refusals) {
      assert.deepEqual((await post('action/shorten_bulk', sent)).body, expected)
    }
    const text = await post('action/shorten_bulk', { data, response_type: 'plain_text' })
    const only = 'Only JSON-encoded responses are available for this endpoint.'
    assert.deepEqual([text.status, text.body], [401, `401 ${only}`])
  })

  test('counts clicks by day, country and referer', async () => {
    const link: LinkBody = await createLink(stage.api, { key: 'counted' })
    const link_seq = await seqOf(stage.service, link)
    const at = (text: string) => Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
    const click = (text: string, fields: object) => someClick({ link_seq, at: at(text), ...fields })
    await takeIn(stage.service, [
      click('2026-03-10T12:00:00Z', { country: 'FR', referrer: 'reddit.com' }),
      click('2026-03-10T13:00:00Z', { country: 'FR' }),
      click('2026-03-12T12:00:00Z', {}),
      click('2026-03-12T12:00:00Z', { flags: 1 }),
    ])
    const bounds = { left_bound: '2026-02-28 22:41:43', right_bound: '2026-03-13 22:21:43' }
    const stats = async (stats_type: string, more: Record<string, string> = bounds) =>
      (await get('data/link', { url_ending: 'counted', stats_type, ...more })).body
    assert.deepEqual(await stats('day'), {
      action: 'data_link_day',
      result: {
        url_ending: 'counted',
        data: [
          { x: '2026-03-10', y: 2 },
          { x: '2026-03-12', y: 1 },
        ],
      },
    })
    assert.deepEqual((await stats('country')).result.data, [{ label: 'FR', clicks: 2 }])
    assert.deepEqual((await stats('referer')).result.data, [
      { label: 'Direct', clicks: 2 },
      { label: 'reddit.com', clicks: 1 },
    ])
    assert.deepEqual((await stats('day', {})).result.data, [], 'the last 30 days')
    const reversed = { left_bound: bounds.right_bound, right_bound: bounds.left_bound }
    const invalid = failure(400, 'ANALYTICS_ERROR', 'Invalid bounds.')
    assert.deepEqual(await stats('day', reversed), invalid)
    const missing = failure(400, 'MISSING_PARAMETERS', 'Invalid or missing parameters.')
    assert.deepEqual(await stats('day', { left_bound: 'yesterday' }), missing)
    const type = failure(400, 'INVALID_ANALYTICS_TYPE', 'Invalid analytics type requested.')
    assert.deepEqual(await stats('toString'), type)
    const text = await get('data/link', { url_ending: 'counted', response_type: 'text' })
    assert.equal(text.status, 401)
  })

  test('finds no link of another workspace', async () => {
    await createLink(await stage.service.api('foreign'), { key: 'foreign' })
    const found = await get('action/lookup', { url_ending: 'foreign' })
    assert.deepEqual([found.status, found.body], [404, '404 Link not found.'])
    const stats = await get('data/link', { url_ending: 'foreign', stats_type: 'day' })
    assert.deepEqual(stats.body, failure(404, 'NOT_FOUND', 'Link not found.'))
  })
})

onSqlite('the API of Polr, on one engine', (stage) => {
  test('refuses other tokens, and its own once it is switched off', async () => {
    const none = await send(stage, 'action/shorten', { url: URL_TO })
    assert.deepEqual([none.status, none.body], [401, '401 Authentication token required.'])
    const invalid = failure(401, 'AUTH_ERROR', 'Authentication token invalid.')
    const other = await compatToken(stage.service, 'compat:kutt')
    for (const key of ['wrong', other, stage.token]) {
      const sent = { key, url_ending: 'a', response_type: 'json' }
      const { status, body } = await send(stage, 'action/lookup', sent)
      assert.deepEqual([status, body], [401, invalid])
    }
    const key = await compatToken(stage.service, 'compat:polr')
    assert.equal((await send(stage, 'action/shorten', { key, url: URL_TO })).status, 200)
    expectStatus(await stage.api.put('/compat/polr', { enabled: false }), 200)
    const off = await send(stage, 'action/shorten', { key, url: URL_TO, response_type: 'json' })
    assert.deepEqual([off.status, off.body], [401, invalid])
    expectStatus(await stage.api.put('/compat/polr', { enabled: true }), 200)
  })

  test('refuses what it cannot shorten', async () => {
    const key = await compatToken(stage.service, 'compat:polr')
    const refusals: readonly (readonly [Record<string, string>, string])[] = [
      [{}, 'Invalid or missing parameters.'],
      [{ url: 'no url' }, 'Invalid or missing parameters.'],
      [{ url: URL_TO, custom_ending: 'api' }, 'This URL ending is already in use.'],
      [
        { url: URL_TO, custom_ending: 'a b' },
        'custom_ending may hold only letters, digits, emoji, "-", "_", ".", "~" and "/"',
      ],
    ]
    for (const [sent, text] of refusals) {
      const { status, body } = await send(stage, 'action/shorten', { key, ...sent })
      assert.deepEqual([status, body], [400, `400 ${text}`])
    }
  })

  test('takes parameters as JSON', async () => {
    const key = await compatToken(stage.service, 'compat:polr')
    const response = await fetch(`${stage.service.baseUrl}/api/v2/action/shorten`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ key, url: URL_TO, custom_ending: 'json', is_secret: null }),
    })
    assert.equal(await response.text(), 'https://localhost/json')
  })
})

onSqlite(
  'the API of Polr, with a limit',
  (stage) => {
    test('says when to send the next request', async () => {
      const key = await compatToken(stage.service, 'compat:polr')
      const sent = { key, url_ending: 'a', response_type: 'json' }
      assert.equal((await send(stage, 'action/lookup', sent)).status, 404)
      const { status, body, response } = await send(stage, 'action/lookup', sent)
      assert.deepEqual([status, body], [429, failure(429, 'QUOTA_EXCEEDED', 'Quota exceeded.')])
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
    })
  },
  { TERSE_RATE_LIMIT: '1' },
)
