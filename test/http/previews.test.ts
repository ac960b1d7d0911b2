import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { PNG } from 'pngjs'
import type { Api } from '../support/api.ts'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine, onSqlite } from '../support/on-each-engine.ts'
import { MAY_READ, startSite } from '../support/page-of-others.ts'
import { expectProblem } from '../support/problems.ts'
import { visit } from '../support/visit.ts'

const WEEK_MICROS = 7 * 24 * 60 * 60 * 1_000_000

let shade = 0

/** A picture that no other test has. */
function picture(width = 40, height = 20): Buffer {
  const png = new PNG({ width, height })
  shade += 1
  for (let at = 0; at < png.data.length; at += 4) png.data.set([shade, at % 251, 99, 255], at)
  return PNG.sync.write(png)
}

const upload = (api: Api, bytes: Buffer, type = 'image/png') =>
  api.send('POST', '/images', { body: new Uint8Array(bytes), headers: { 'content-type': type } })

onEachEngine('uploaded images', (stage) => {
  const pathOf = (url: string) => new URL(url).pathname
  const hashOf = (url: string) => /[0-9a-f]{64}/.exec(url)?.[0] ?? ''

  test('are served from the host of the service by the hash of what is in them', async () => {
    const { body } = expectStatus(await upload(stage.api, picture()), 201)
    const [, hash] =
      /^https:\/\/localhost:\d+\/assets\/images\/([0-9a-f]{64})-40x20\.png$/.exec(body.url) ?? []
    assert.deepEqual(
      { ...body, bytes: 0, url: '' },
      { url: '', type: 'image/png', width: 40, height: 20, bytes: 0 },
    )
    const answer = await visit(stage.service.port, pathOf(body.url))
    assert.equal(answer.status, 200)
    const { headers } = answer
    assert.equal(headers['content-type'], 'image/png')
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['content-security-policy'], "default-src 'none'; sandbox")
    const loaded = await fetch(`${stage.service.baseUrl}${pathOf(body.url)}`)
    const bytes = Buffer.from(await loaded.arrayBuffer())
    assert.equal(createHash('sha256').update(bytes).digest('hex'), hash)
    assert.equal(bytes.length, body.bytes)
    assert.equal(PNG.sync.read(bytes).width, 40)
    const known = { headers: { 'if-none-match': loaded.headers.get('etag') ?? '' } }
    assert.equal((await fetch(`${stage.service.baseUrl}${pathOf(body.url)}`, known)).status, 304)
  })

  test('are found by exactly their name', async () => {
    const { body } = expectStatus(await upload(stage.api, picture()), 201)
    for (const other of [
      body.url.replace('40x20', '20x40'),
      body.url.replace('.png', '.jpg'),
      body.url.replace(/[0-9a-f]{64}/, 'a'.repeat(64)),
      `${body.url}.html`,
    ]) {
      assert.equal((await visit(stage.service.port, pathOf(other))).status, 404, other)
    }
  })

  test('are stored once, and count for the storage of the workspace', async () => {
    const api = await stage.service.api('stored')
    const used = async () => (await api.get('/usage')).body.storage_bytes.used
    const before = await used()
    const bytes = picture()
    const first = expectStatus(await upload(api, bytes), 201).body
    const second = expectStatus(await upload(api, bytes), 201).body
    assert.deepEqual(second, first)
    assert.equal(await used(), before + first.bytes)
  })

  for (const [name, bytes, type, status] of [
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), 'image/png', 422],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png', 422],
    ['half a picture', picture().subarray(0, 60), 'image/png', 422],
    ['nothing', Buffer.alloc(0), 'image/png', 422],
    ['more than 1 MiB', Buffer.alloc(1024 * 1024 + 1), 'image/png', 413],
    ['a media type that is none of an image', picture(), 'text/html', 415],
    ['an SVG by its type', picture(), 'image/svg+xml', 415],
  ] as const) {
    test(`refuse ${name}`, async () => {
      const answer = await upload(stage.api, bytes, type)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      if (status === 422) expectInvalid(answer, 'image')
    })
  }

  test('refuse more pixels than a decoder should take', async () => {
    const bytes = picture(8, 8)
    bytes.writeUInt32BE(60_000, 16)
    expectInvalid(await upload(stage.api, bytes), 'image')
  })

  test('refuse what the quota of the workspace has no room for', async () => {
    const api = await stage.service.api('full')
    const { workspace_id } = await createLink(api)
    await stage.service.instance.store.write(async ({ quotas, changes }) => {
      await quotas.set(workspace_id, {
        ...{
          links: null,
          domains: null,
          pending_domains: null,
          conversions: null,
          requests_per_minute: null,
        },
        storage_bytes: 100,
      })
      await changes.append({ kind: 'quota', subject: workspace_id }, 1)
    })
    expectInvalid(await upload(api, picture()), 'workspace')
  })

  test('need the right to edit links', async () => {
    const viewer = await stage.service.api('acme', ['links:read'])
    expectProblem(await upload(viewer, picture()), 'missing_scope')
  })

  test('belong to one workspace: links of another one cannot use them', async () => {
    const { body } = expectStatus(await upload(stage.api, picture()), 201)
    await createLink(stage.api, { image: body.url })
    const other = await stage.service.api('other')
    const link = { domain: 'localhost', url: 'https://example.com/', image: body.url }
    expectInvalid(await other.post('/links', link), 'image')
    const { id } = await createLink(other)
    expectInvalid(await other.patch(`/links/${id}/options`, { image: body.url }), 'image')
    const elsewhere = body.url.replace('localhost', 'cdn.example')
    expectStatus(await other.patch(`/links/${id}/options`, { image: elsewhere }), 200)
  })

  test('are deleted a week after no link uses them', async () => {
    const { store } = stage.service.instance
    const now = Date.now() * 1_000
    const trim = (atMicros: number) =>
      store.write(({ images }) => images.trim(atMicros - WEEK_MICROS, atMicros, 100))
    const [used, unused] = await Promise.all(
      [picture(), picture()].map(
        async (bytes) => expectStatus(await upload(stage.api, bytes), 201).body.url,
      ),
    )
    const { id } = await createLink(stage.api, { image: used })
    const isThere = async (url: string) => (await store.read.images.find(hashOf(url))) !== undefined
    await trim(now)
    assert.deepEqual([await isThere(used), await isThere(unused)], [true, true])
    const later = now + WEEK_MICROS + 60_000_000
    await trim(later)
    assert.deepEqual([await isThere(used), await isThere(unused)], [true, false])
    expectStatus(await stage.api.patch(`/links/${id}/options`, { image: null }), 200)
    // It was used at the last look.
    await trim(later + WEEK_MICROS / 2)
    assert.equal(await isThere(used), true)
    await trim(later + WEEK_MICROS + 60_000_000)
    assert.equal(await isThere(used), false)
    expectInvalid(await stage.api.patch(`/links/${id}/options`, { image: unused }), 'image')
  })

  for (const [what, stop] of [
    ['has another', (id: string) => stage.api.patch(`/links/${id}/options`, { image: null })],
    ['is deleted', (id: string) => stage.api.delete(`/links/${id}`)],
  ] as const) {
    test(`are kept for a week once their link ${what}`, async () => {
      const { store } = stage.service.instance
      const { body } = expectStatus(await upload(stage.api, picture()), 201)
      const { id, workspace_id } = await createLink(stage.api, { image: body.url })
      const hash = hashOf(body.url)
      const data = (await store.read.images.find(hash)) ?? Buffer.alloc(0)
      const image = { hash, width: 40, height: 20, type: 'png', data } as const
      // As if it had been uploaded long ago.
      await store.write(({ images }) => images.insert(workspace_id, image, 1))
      expectStatus(await stop(id), 200)
      const now = Date.now() * 1_000
      const trim = (atMicros: number) =>
        store.write(({ images }) => images.trim(atMicros - WEEK_MICROS, atMicros, 100))
      await trim(now)
      assert.ok(await store.read.images.find(hash))
      await trim(now + WEEK_MICROS + 60_000_000)
      assert.equal(await store.read.images.find(hash), undefined)
    })
  }
})

const PAGE = `<!doctype html><head><title>Plain</title>
  <meta property="og:title" content="Spring &amp; summer">
  <meta property="og:description" content="Up to&#10; 50 %">
  <meta property="og:image" content="/a.png"></head>`

const html = { 'content-type': 'text/html; charset=utf-8' }

onSqlite(
  'previews of pages',
  (stage) => {
    test('are read on request, with the picture stored in the workspace', async () => {
      const asked: (string | undefined)[] = []
      await using site = await startSite((request, response) => {
        asked.push(request.headers['user-agent'], request.headers.cookie)
        if (request.url === '/a.png') response.writeHead(200).end(picture())
        else response.writeHead(200, html).end(PAGE)
      })
      const { body } = expectStatus(await stage.api.post('/previews', { url: site.url }), 200)
      assert.deepEqual(
        { ...body, image: '' },
        { title: 'Spring & summer', description: 'Up to 50 %', image: '' },
      )
      assert.match(body.image, /^https:\/\/localhost:\d+\/assets\/images\/[0-9a-f]{64}-40x20\.png$/)
      assert.match(asked[0] ?? '', /terse-preview-bot\/.+http:\/\/localhost/)
      assert.equal(asked[1], undefined)
    })

    test('are set on a link from its destination, once', async () => {
      await using site = await startSite((_request, response) =>
        response.writeHead(200, html).end('<title>Only a title</title>'),
      )
      const { id } = await createLink(stage.api, { url: site.url, description: 'old' })
      const { body } = expectStatus(await stage.api.post(`/links/${id}/preview`, undefined), 200)
      assert.deepEqual([body.title, body.description, body.image], ['Only a title', null, null])
      const options = (await stage.api.get(`/links/${id}/options`)).body
      assert.deepEqual(options, body)
      const other = await stage.service.api('other')
      expectProblem(await other.post(`/links/${id}/preview`, undefined), 'not_found')
    })

    test('leave out a picture that cannot be shown', async () => {
      await using site = await startSite((request, response) => {
        if (request.url === '/a.png') response.writeHead(200).end('<svg/>')
        else response.writeHead(200, html).end(PAGE)
      })
      const { body } = expectStatus(await stage.api.post('/previews', { url: site.url }), 200)
      assert.deepEqual([body.title, body.image], ['Spring & summer', null])
    })

    test('read two pages of a workspace at once, and refuse those beyond its queue', async () => {
      const released = Promise.withResolvers<void>()
      const open = { now: 0, most: 0 }
      await using site = await startSite(async (_request, response) => {
        open.now += 1
        open.most = Math.max(open.most, open.now)
        await released.promise
        open.now -= 1
        response.writeHead(200, html).end('<title>Slow</title>')
      })
      const reads = Array.from({ length: 11 }, () => stage.api.post('/previews', { url: site.url }))
      expectProblem(await Promise.race(reads), 'queue_full')
      released.resolve()
      const statuses = (await Promise.all(reads)).map(({ status }) => status).toSorted()
      assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429])
      assert.equal(open.most, 2)
    })

    for (const [name, answer, reason] of [
      [
        'is no page',
        (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x'),
        /HTML/,
      ],
      ['says nothing', (_, response) => response.writeHead(200, html).end('<p>x</p>'), /no title/],
      ['is not there', (_, response) => response.writeHead(404, html).end(PAGE), /404/],
      [
        'redirects in circles',
        (_, response) => response.writeHead(302, { location: '/' }).end(),
        /redirects/,
      ],
      [
        'redirects into the network',
        (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
        /private/,
      ],
      [
        'redirects to no page',
        (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
        /page of the web/,
      ],
      ['hangs up', (request) => request.socket.destroy(), /reached/],
    ] as const satisfies readonly (readonly [string, RequestListener, RegExp])[]) {
      test(`refuse a destination that ${name}`, async () => {
        await using site = await startSite(answer)
        const refused = await stage.api.post('/previews', { url: site.url })
        expectInvalid(refused, 'url')
        assert.match(refused.body.errors.url[0], reason)
      })
    }

    test('read the beginning of a long page', async () => {
      await using site = await startSite((_request, response) => {
        response.writeHead(200, html)
        response.write('<title>Long</title>')
        response.end(' '.repeat(2 * 1024 * 1024))
      })
      const { body } = expectStatus(await stage.api.post('/previews', { url: site.url }), 200)
      assert.equal(body.title, 'Long')
    })

    for (const url of [
      '[::1]',
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://[::1]/',
      'http://[::ffff:10.0.0.1]/',
      'http://192.168.0.1.nip.invalid/',
      'mailto:a@example.com',
    ]) {
      test(`do not reach ${url}`, async () => {
        expectInvalid(await stage.api.post('/previews', { url }), 'url')
      })
    }
  },
  MAY_READ,
)
