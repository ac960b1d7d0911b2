import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { WEBHOOK_BODIES } from '@terse/contract/webhook-events'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine, onSqlite } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { startReceiver, verify, type WebhookReceiver } from '../support/webhook-receiver.ts'

const ALLOWED = { TERSE_WEBHOOK_ALLOW: '127.0.0.0/8' }
const destination = { url: 'https://example.com/' }

onEachEngine(
  'webhooks',
  (stage) => {
    let receiver: WebhookReceiver
    before(async () => {
      receiver = await startReceiver()
    })
    after(() => receiver.close())

    beforeEach(() => {
      receiver.calls.length = 0
      receiver.answer = () => undefined
    })
    const create = async (input: object) =>
      expectStatus(
        await stage.api.post('/webhooks', {
          url: receiver.url,
          events: ['link.created'],
          ...input,
        }),
        201,
      ).body

    test('send changes of links, signed as Standard Webhooks asks', async () => {
      const events = ['link.created', 'link.changed', 'link.deleted']
      const { id, secret } = await create({ events, ordered: true })
      const made = { domain: 'localhost', key: 'hooked', tags: ['a'], ...destination }
      const link = expectStatus(await stage.api.post('/links', made), 201).body
      expectStatus(await stage.api.patch(`/links/${link.id}`, { tags: ['b'] }), 200)
      expectStatus(await stage.api.delete(`/links/${link.id}`), 200)
      const calls = await receiver.until(3)
      assert.deepEqual(
        calls.map(({ type }) => type),
        events,
      )
      for (const call of calls) {
        WEBHOOK_BODIES[call.type]?.parse(verify(secret, call))
        assert.equal(call.data.subject_id, link.id)
      }
      assert.deepEqual(calls[0]?.data.after.tags, ['a'])
      assert.equal(calls[2]?.data.link.link, link.link)
      const shown = await eventually(async () => {
        const { body } = expectStatus(await stage.api.get(`/webhooks/${id}`), 200)
        assert.equal(body.waiting, 0)
        return body
      })
      assert.equal(shown.state, 'healthy')
      assert.equal(shown.half_days.at(-1).delivered, 3)
      const { data } = expectStatus(await stage.api.get(`/webhooks/${id}/attempts`), 200).body
      assert.deepEqual(
        data.map(({ status }: { status: number }) => status),
        [204, 204, 204],
      )
      assert.equal(data[0].summary, 'localhost/hooked')
      assert.doesNotMatch(JSON.stringify(data), /whsec_|webhook-signature/)
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })

    test('leave out what the filters leave out, and other workspaces', async () => {
      const { id } = await create({ tags: ['wanted'], domains: ['localhost'] })
      const stranger = await stage.service.api('stranger')
      await stranger.post('/links', { domain: 'localhost', tags: ['wanted'], ...destination })
      await stage.api.post('/links', { domain: 'localhost', tags: ['other'], ...destination })
      await stage.api.post('/links', { domain: 'localhost', tags: ['wanted'], ...destination })
      const [call] = await receiver.until(1)
      assert.deepEqual(call?.data.link.tags, ['wanted'])
      assert.equal(receiver.calls.length, 1)
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })

    test('send clicks in batches, without addresses', async () => {
      const { id } = await create({ events: ['link.clicked'] })
      const made = { domain: 'localhost', key: 'clicked', ...destination }
      expectStatus(await stage.api.post('/links', made), 201)
      for (let click = 0; click < 3; click += 1) {
        await fetch(`${stage.service.baseUrl}/clicked`, {
          redirect: 'manual',
          headers: { host: 'localhost', 'user-agent': 'Mozilla/5.0 (X11) Firefox/140.0' },
        })
      }
      const clicks = await eventually(async () => {
        const all = receiver.calls.flatMap(({ data }) => data.clicks)
        assert.equal(all.length, 3)
        return all
      })
      WEBHOOK_BODIES['link.clicked']?.parse(JSON.parse(receiver.calls[0]?.body ?? ''))
      assert.deepEqual(new Set(clicks.map(({ key }) => key)), new Set(['clicked']))
      assert.doesNotMatch(receiver.calls[0]?.body ?? '', /127\.0\.0\.1|"visitor"/)
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })

    test('send that links have expired or had all clicks of their limit, and that exports ended', async () => {
      const events = ['link.expired', 'link.limit_reached', 'job.finished']
      const { id } = await create({ events })
      const made = { domain: 'localhost', ...destination }
      const soon = new Date(Date.now() + 500).toISOString()
      expectStatus(await stage.api.post('/links', { ...made, key: 'soon', expires_at: soon }), 201)
      expectStatus(await stage.api.post('/links', { ...made, key: 'once', max_clicks: 1 }), 201)
      await fetch(`${stage.service.baseUrl}/once`, {
        redirect: 'manual',
        headers: { host: 'localhost', 'user-agent': 'Mozilla/5.0 (X11) Firefox/140.0' },
      })
      await stage.api.get('/export')
      const calls = await receiver.until(3)
      for (const call of calls) WEBHOOK_BODIES[call.type]?.parse(JSON.parse(call.body))
      const about = calls.map(({ type, data }) => [type, data.link?.key ?? data.logged_as])
      assert.deepEqual(about.toSorted(), [
        ['job.finished', 'workspace.export_completed'],
        ['link.expired', 'soon'],
        ['link.limit_reached', 'once'],
      ])
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })

    test('send conversions with the link that brought them, by its tags', async () => {
      const { id } = await create({ events: ['conversion.recorded'], tags: ['shop'] })
      const made = { domain: 'localhost', key: 'shop', tags: ['shop'], track_conversions: true }
      expectStatus(await stage.api.post('/links', { ...made, ...destination }), 201)
      const visited = await fetch(`${stage.service.baseUrl}/shop`, {
        redirect: 'manual',
        headers: { host: 'localhost', 'user-agent': 'Mozilla/5.0 (X11) Firefox/140.0' },
      })
      const token = new URL(visited.headers.get('location') ?? '').searchParams.get('tc')
      const order = { token, event: 'order', value: 7490, currency: 'EUR' }
      assert.ok((await stage.api.post('/conversions', order)).status < 300)
      const [call] = await receiver.until(1)
      WEBHOOK_BODIES['conversion.recorded']?.parse(JSON.parse(call?.body ?? ''))
      assert.deepEqual([call?.data.link.key, call?.data.after.value], ['shop', 7490])
      assert.ok(!call?.body.includes(String(token)))
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })

    test('are tried again after a failure, with the same id, and can be sent again', async () => {
      receiver.answer = () =>
        receiver.calls.length === 1 ? { status: 500, body: 'no\0' } : undefined
      const { id } = await create({})
      await stage.api.post('/links', { domain: 'localhost', ...destination })
      const [first, second] = await receiver.until(2)
      assert.equal(first?.id, second?.id)
      assert.equal(first?.body, second?.body)
      const attempts = `/webhooks/${id}/attempts`
      const { data } = await eventually(async () => {
        const { body } = expectStatus(await stage.api.get(`${attempts}?message=${first?.id}`), 200)
        assert.equal(body.data.length, 2)
        return body
      })
      assert.deepEqual(
        data.map((each: { try: number }) => each.try),
        [2, 1],
      )
      assert.equal(data[1].fault, 'status')
      assert.equal(data[1].response.body, 'no\uFFFD')
      const failed = expectStatus(
        await stage.api.get(`${attempts}?failed=true&per_page=1`),
        200,
      ).body
      assert.deepEqual(failed.data, [data[1]])
      const replay = `/webhooks/${id}/replay`
      expectStatus(await stage.api.post(replay, { message_id: first?.id }), 200)
      await receiver.until(3, (call) => call.id === first?.id)
      expectStatus(await stage.api.post(replay, { from: '2026-01-01T00:00:00Z' }), 200)
      await receiver.until(4, (call) => call.id === first?.id)
      const { queued } = await eventually(async () => {
        const { body } = expectStatus(await stage.api.get(`/webhooks/${id}`), 200)
        assert.deepEqual([body.replay.done, body.waiting], [true, 0])
        return body.replay
      })
      const sent = receiver.calls.length
      const count = { from: '2026-01-01T00:00:00Z', dry_run: true }
      for (const [undelivered, calls] of [
        [false, queued],
        [true, 0],
      ] as const) {
        const { body } = expectStatus(await stage.api.post(replay, { ...count, undelivered }), 200)
        assert.deepEqual([body.replay.queued, body.replay.done, body.waiting], [calls, true, 0])
      }
      expectInvalid(await stage.api.post(replay, { message_id: 'a', dry_run: true }), 'message_id')
      assert.equal(receiver.calls.length, sent)
      const from = { from: '2026-01-01T00:00:00Z', undelivered: true }
      expectStatus(await stage.api.post(replay, from), 200)
      await eventually(async () => {
        const { replay: shown } = expectStatus(await stage.api.get(`/webhooks/${id}`), 200).body
        assert.deepEqual([shown.done, shown.queued], [true, 0])
      })
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })

    test('take another secret, beside which the old one signs for a day', async () => {
      const { id, secret } = await create({})
      const rotated = expectStatus(await stage.api.post(`/webhooks/${id}/secret`, {}), 200).body
      assert.notEqual(rotated.secret, secret)
      assert.equal(rotated.old_secret.hint, secret.slice(-4))
      const tested = expectStatus(await stage.api.post(`/webhooks/${id}/test`, undefined), 200).body
      assert.deepEqual([tested.ok, tested.status, tested.event], [true, 204, 'webhook.test'])
      const [call] = await receiver.until(1)
      assert.ok(call)
      for (const each of [secret, rotated.secret]) verify(each, call)
      expectStatus(await stage.api.delete(`/webhooks/${id}/old-secret`), 200)
      expectStatus(await stage.api.post(`/webhooks/${id}/test`, undefined), 200)
      const [, last] = await receiver.until(2)
      assert.ok(last)
      verify(rotated.secret, last)
      assert.throws(() => verify(secret, last), /signature/)
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })

    test('are disabled by an answer of 410, with an event', async () => {
      receiver.answer = () => ({ status: 410 })
      const { id } = await create({})
      await stage.api.post('/links', { domain: 'localhost', ...destination })
      await eventually(async () => {
        const { body } = expectStatus(await stage.api.get(`/webhooks/${id}`), 200)
        assert.deepEqual([body.state, body.disabled_reason], ['disabled', 'gone'])
      })
      const { data } = expectStatus(await stage.api.get(`/events?subject=${id}`), 200).body
      assert.deepEqual(data[0].type, 'webhook.disabled')
      assert.deepEqual(data[0].after, {
        ...{ name: new URL(receiver.url).host, url: receiver.url },
        ...{ reason: 'gone', fault: 'status', status: 410 },
      })
      const enabled = expectStatus(await stage.api.patch(`/webhooks/${id}`, { enabled: true }), 200)
      assert.equal(enabled.body.state, 'healthy')
      expectStatus(await stage.api.delete(`/webhooks/${id}`), 200)
    })
  },
  ALLOWED,
)

onSqlite('the API of webhooks', (stage) => {
  const valid = { url: 'https://hooks.example.com/', events: ['link.created'] }

  test('shows the secret once, and takes one of the right form', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const created = expectStatus(await stage.api.post('/webhooks', { ...valid, secret }), 201).body
    assert.equal(created.secret, secret)
    const shown = expectStatus(await stage.api.get(`/webhooks/${created.id}`), 200).body
    assert.doesNotMatch(JSON.stringify(shown), /whsec_/)
    const stored = await stage.service.instance.store.read.webhooks.findAny(created.id)
    assert.doesNotMatch(JSON.stringify(stored), /whsec_|BwcHBw/)
    for (const wrong of ['secret', 'whsec_', 'whsec_AAAA', `whsec_${'!'.repeat(32)}`]) {
      expectInvalid(await stage.api.post('/webhooks', { ...valid, secret: wrong }), 'secret')
    }
  })

  test('refuses addresses of private networks and what cannot be called', async () => {
    for (const url of [
      'http://10.0.0.4/',
      'http://[::1]/',
      'http://127.1/',
      'ftp://example.com/',
      'x',
    ]) {
      expectInvalid(await stage.api.post('/webhooks', { ...valid, url }), 'url')
    }
    const domains = ['elsewhere.example.com']
    expectInvalid(await stage.api.post('/webhooks', { ...valid, domains }), 'domains.0')
    expectInvalid(await stage.api.post('/webhooks', { ...valid, events: [] }), 'events')
  })

  test('needs the right to see what is sent, and its own scopes', async () => {
    const writer = await stage.service.api('acme', ['webhooks:write', 'links:read'])
    expectStatus(await writer.post('/webhooks', valid), 201)
    for (const event of ['link.clicked', 'domain.lost', 'member.changed']) {
      const refused = await writer.post('/webhooks', { ...valid, events: [event] })
      expectProblem(refused, 'missing_scope')
    }
    const reader = await stage.service.api('acme', ['webhooks:read'])
    const { data } = expectStatus(await reader.get('/webhooks'), 200).body
    expectProblem(await reader.patch(`/webhooks/${data[0].id}`, { ordered: true }), 'missing_scope')
    expectProblem(await writer.get('/webhooks'), 'missing_scope')
  })

  test('allows 100 endpoints in a workspace', async () => {
    const api = await stage.service.api('many')
    for (let nth = 0; nth < 100; nth += 1) expectStatus(await api.post('/webhooks', valid), 201)
    expectInvalid(await api.post('/webhooks', valid), 'url')
  })

  test('reports why a call failed', async () => {
    const at = async (url: string) => {
      const { id } = expectStatus(await stage.api.post('/webhooks', { ...valid, url }), 201).body
      const attempt = expectStatus(
        await stage.api.post(`/webhooks/${id}/test`, undefined),
        200,
      ).body
      return [attempt.ok, attempt.status, attempt.fault]
    }
    // The name is looked up at the call, and leads to this machine.
    assert.deepEqual(await at('http://localhost:9/'), [false, null, 'refused_address'])
    assert.deepEqual(await at('http://nowhere.invalid/'), [false, null, 'unreachable'])
  })
})
