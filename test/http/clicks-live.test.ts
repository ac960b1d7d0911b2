import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { ENGINES } from '../support/engines.ts'
import { openEventStream } from '../support/event-stream.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { UNKNOWN_ID } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { startService } from '../support/service.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const STREAMS_MAX = 10
const MINUTE_MICROS = 60 * 1_000_000

onEachEngine('GET /api/v1/clicks/live', (stage) => {
  const open = (query = '') =>
    openEventStream(stage.service.baseUrl, stage.token, `/clicks/live${query}`)
  const now = () => Date.now() * 1_000

  test('sends the last 30 minutes, and then each new click once', async (t) => {
    const link = await createLink(stage.api)
    const link_seq = await seqOf(stage.service, link)
    const at = now()
    await takeIn(stage.service, [
      someClick({ link_seq, at: at - 40 * MINUTE_MICROS }),
      someClick({ link_seq, at: at - 5 * MINUTE_MICROS, country: 'FR' }),
      someClick({ link_seq, at, flags: 1 }),
    ])
    const stream = await open(`?link=${link.id}`)
    t.after(() => stream.close())
    assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(stream.headers.get('content-encoding'), null)
    assert.equal(stream.headers.get('etag'), null)
    const first = await stream.next()
    assert.equal(first?.event, 'start')
    assert.equal(first.data.minutes.length, 30)
    assert.equal(
      first.data.minutes.reduce((sum: number, each: { clicks: number }) => sum + each.clicks, 0),
      1,
    )
    assert.deepEqual(
      first.data.clicks.map(({ country }: { country: string }) => country),
      ['FR'],
    )

    await takeIn(stage.service, [
      someClick({
        ...{ link_seq, at: now(), country: 'DE', referrer: 'example.com', visitor: 7 },
        ...{ rule: 'phones', variant: 'B', label: 'newsletter' },
      }),
      someClick({ link_seq, at: now(), flags: 1 }),
    ])
    const second = await stream.next()
    assert.equal(second?.event, 'clicks')
    assert.equal(second.data.left_out, 0)
    const [{ at: clickedAt, id, ...click }] = second.data.clicks
    assert.match(id, /^[0-9a-z]+-[0-9a-z]+$/)
    assert.ok(Date.parse(clickedAt) >= at / 1_000)
    assert.deepEqual(click, {
      link_id: link.id,
      domain: link.domain,
      key: link.key,
      country: 'DE',
      device: null,
      os: null,
      browser: null,
      referrer: 'example.com',
      language: null,
      source: 'direct',
      flags: [],
      count: 1,
      rule: 'phones',
      variant: 'B',
      label: 'newsletter',
      region: null,
      city: null,
    })
    assert.equal(second.data.clicks.length, 1)
    await takeIn(stage.service, [someClick({ link_seq, at: now(), country: 'JP' })])
    const third = await stream.next()
    assert.deepEqual(
      third?.data.clicks.map(({ country }: { country: string }) => country),
      ['JP'],
    )
  })

  test('shows only the clicks of its workspace, links and domains, and those that bots selects', async (t) => {
    const [link, other] = [await createLink(stage.api), await createLink(stage.api)]
    const foreign = await createLink(await stage.service.api('other'))
    const streams = await Promise.all([
      open('?bots=only'),
      open(`?bots=include&link=${link.id}&link=${other.id}`),
    ])
    t.after(() => Promise.all(streams.map((stream) => stream.close())))
    for (const stream of streams) await stream.next()
    const clickOn = async (of: typeof link, country: string, flags = 0) =>
      someClick({ link_seq: await seqOf(stage.service, of), at: now(), country, flags })
    await takeIn(stage.service, [
      await clickOn(foreign, 'AA', 1),
      await clickOn(link, 'BB'),
      await clickOn(other, 'CC', 2),
    ])
    const shown = await Promise.all(streams.map((stream) => stream.next()))
    const countries = shown.map((event) =>
      event?.data.clicks.map(({ country }: { country: string }) => country),
    )
    assert.deepEqual(countries, [['CC'], ['BB', 'CC']])
  })

  test('shows only the clicks on a domain, by its name or its identifier', async (t) => {
    const domain = 'live.localhost'
    const { id } = expectStatus(await stage.api.post('/domains', { domain }), 201).body
    const [link, other] = [await createLink(stage.api, { domain }), await createLink(stage.api)]
    const streams = await Promise.all(
      [`LIVE.localhost.`, id].map((name) =>
        open(`?domain=${name}&link=${link.id}&link=${other.id}`),
      ),
    )
    t.after(() => Promise.all(streams.map((stream) => stream.close())))
    for (const stream of streams) await stream.next()
    const clickOn = async (of: typeof link, country: string) =>
      someClick({ link_seq: await seqOf(stage.service, of), at: now(), country })
    await takeIn(stage.service, [await clickOn(other, 'XX'), await clickOn(link, 'YY')])
    for (const stream of streams) {
      const { data } = (await stream.next()) ?? {}
      assert.deepEqual(
        data.clicks.map(({ country }: { country: string }) => country),
        ['YY'],
      )
    }
  })

  test('shows only clicks with the selected values, at first and as they come', async (t) => {
    const spring = await createLink(stage.api, {
      tags: ['spring', 'print'],
      url: 'https://example.com/?utm_campaign=sale&utm_medium=web',
      utm_medium: 'email',
    })
    const plain = await createLink(stage.api)
    const clickOn = async (of: typeof plain, country: string, os: string, variant = '') =>
      someClick({ link_seq: await seqOf(stage.service, of), at: now(), country, os, variant })
    const takeSome = async () =>
      takeIn(stage.service, [
        await clickOn(spring, 'DE', 'iOS'),
        await clickOn(spring, 'AT', ''),
        await clickOn(plain, 'DE', ''),
        await clickOn(plain, 'FR', 'iOS', 'Größer'),
      ])
    const on = `link=${spring.id}&link=${plain.id}`
    const expected = {
      'country=de&country=FR': ['DE', 'DE', 'FR'],
      'country=DE&os=': ['DE'],
      'variant=Gr%C3%B6%C3%9Fer': ['FR'],
      'variant=gr%C3%B6%C3%9Fer': [],
      'tag=spring&tag=none': ['DE', 'AT'],
      'tag=': ['DE', 'FR'],
      'utm_medium=email&os=ios': ['DE'],
      'utm_medium=web': [],
      'utm_campaign=sale&utm_source=': ['DE', 'AT'],
    }
    await takeSome()
    const streams = await Promise.all(Object.keys(expected).map((query) => open(`?${on}&${query}`)))
    t.after(() => Promise.all(streams.map((stream) => stream.close())))
    const countriesOf = (event: Awaited<ReturnType<(typeof streams)[number]['next']>>) =>
      event?.data.clicks.map(({ country }: { country: string }) => country)
    const first = await Promise.all(streams.map((stream) => stream.next()))
    assert.deepEqual(first.map(countriesOf), Object.values(expected))
    const sums = first.map((event) =>
      event?.data.minutes.reduce((sum: number, { clicks }: { clicks: number }) => sum + clicks, 0),
    )
    assert.deepEqual(
      sums,
      Object.values(expected).map(({ length }) => length),
    )
    await takeSome()
    const sent = Object.values(expected).flatMap((countries, nth) =>
      countries.length === 0 ? [] : [{ stream: streams[nth], countries }],
    )
    const second = await Promise.all(sent.map(({ stream }) => stream?.next()))
    assert.deepEqual(
      second.map(countriesOf),
      sent.map(({ countries }) => countries),
    )
  })

  test('returns 404 for a link or domain that the workspace does not have', async () => {
    const foreign = await createLink(await stage.service.api('other'))
    for (const query of [`link=${foreign.id}`, `domain=${UNKNOWN_ID}`, 'domain=unknown.example']) {
      expectProblem(await stage.api.get(`/clicks/live?${query}`), 'not_found')
    }
  })

  test('returns 429 when a workspace has too many streams, until one of them is closed', async () => {
    const token = await stage.service.token('watchers')
    const openOne = () => openEventStream(stage.service.baseUrl, token, '/clicks/live')
    const streams = await Promise.all(Array.from({ length: STREAMS_MAX }, openOne))
    const api = await stage.service.api('watchers')
    const refused = expectProblem(await api.get('/clicks/live'), 'queue_full')
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    await Promise.all(streams.map((stream) => stream.close()))
  })
})

for (const engine of ENGINES) {
  describe(`a stop with a live stream on ${engine.title}`, () => {
    test('ends the stream and does not wait for it', async () => {
      const service = await startService(engine)
      const stream = await openEventStream(service.baseUrl, await service.token(), '/clicks/live')
      assert.equal((await stream.next())?.event, 'start')
      const stopped = service.stop()
      assert.deepEqual(await stream.next(), { event: 'end', data: { reason: 'stopping' } })
      assert.equal(await stream.next(), undefined)
      await stopped
    })
  })
}
