import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PNG } from 'pngjs'
import { type Api, expectStatus } from '../support/api.ts'
import { closeDatabase, reopenDatabase } from '../support/database-access.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { onEachEngine, onSqlite } from '../support/on-each-engine.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'
import { createLink } from './create.ts'

const DESTINATION = 'https://secret.example/page'
const SHOWN = { title: 'Spring & <sale>', description: 'Up to 50 % off' }
const FACEBOOK = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'

const pathFor = (url: string, more = '') => `/oembed?url=${encodeURIComponent(url)}${more}`

/** Requests what is shown of the link with a key of the service's own host. */
const ask = (port: number, key: string, more = '') =>
  visit(port, pathFor(`https://localhost/${key}`, more))

async function uploadImage(api: Api): Promise<string> {
  const png = new PNG({ width: 40, height: 20 })
  const bytes = new Uint8Array(PNG.sync.write(png))
  const headers = { 'content-type': 'image/png' }
  return expectStatus(await api.send('POST', '/images', { body: bytes, headers }), 201).body.url
}

onEachEngine('oEmbed', (stage) => {
  const embed = (key: string, more = '') => ask(stage.service.port, key, more)
  const fieldsOf = ({ status, body }: VisitAnswer) => {
    assert.equal(status, 200, body)
    return JSON.parse(body)
  }

  test('shows what the owners of a link have set, and never where it leads', async () => {
    const image = await uploadImage(stage.api)
    await createLink(stage.api, { key: 'all', url: DESTINATION, ...SHOWN, image })
    const answer = await embed('all?x=1')
    assert.deepEqual(fieldsOf(answer), {
      version: '1.0',
      type: 'link',
      ...SHOWN,
      provider_name: 'localhost',
      provider_url: 'https://localhost/',
      cache_age: 3600,
      thumbnail_url: image,
      thumbnail_width: 40,
      thumbnail_height: 20,
    })
    const { headers } = answer
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['cache-control'], 'public, max-age=3600')
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.equal(headers['x-robots-tag'], 'noindex')
  })

  test('names a link by its address where nothing is set', async () => {
    await createLink(stage.api, { key: 'Bare/ü', url: DESTINATION })
    const { title, description, thumbnail_url } = fieldsOf(await embed('bare/%C3%BC'))
    assert.deepEqual(
      [title, description, thumbnail_url],
      ['localhost/bare/ü', undefined, undefined],
    )
  })

  test('answers for links of custom domains, and for none of those that are not proved', async () => {
    await createLink(stage.api, {
      domain: 'go.localhost',
      key: 'oembed',
      url: DESTINATION,
      ...SHOWN,
    })
    const port = stage.service.port
    const shown = fieldsOf(await visit(port, pathFor('http://GO.localhost:8080/oembed')))
    assert.deepEqual(
      [shown.title, shown.provider_name, shown.provider_url],
      [SHOWN.title, 'go.localhost', 'https://go.localhost/'],
    )
    await createLink(stage.api, {
      domain: 'unproved.example',
      key: 'a',
      url: DESTINATION,
      ...SHOWN,
    })
    assert.equal((await visit(port, pathFor('https://unproved.example/a'))).status, 404)
    // On a custom domain the path is a key like any other.
    assert.equal((await visit(port, '/oembed', { host: 'go.localhost' })).status, 302)
  })

  for (const [name, fields, status] of [
    ['has a password', { password: 'secret' }, 401],
    ['is not active yet', { active_from: '2100-01-01T00:00:00Z' }, 404],
    ['has expired', { expires_at: '2020-01-01T00:00:00Z' }, 404],
    [
      'has expired and leads elsewhere since',
      { expires_at: '2020-01-01T00:00:00Z', expired_redirect_url: 'https://e.example/' },
      404,
    ],
  ] as const) {
    test(`says nothing of a link that ${name}`, async () => {
      const key = name.replaceAll(' ', '-')
      await createLink(stage.api, { key, url: DESTINATION, ...SHOWN, ...fields })
      const { status: answered, body, headers } = await embed(key)
      assert.equal(answered, status)
      assert.doesNotMatch(body, /Spring|secret\.example|e\.example/)
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.equal(headers['www-authenticate'], undefined)
    })
  }

  test('shows a link with a limit until its clicks are used up, and uses up none', async () => {
    const { id } = await createLink(stage.api, {
      key: 'one',
      url: DESTINATION,
      ...SHOWN,
      max_clicks: 1,
    })
    for (let nth = 0; nth < 3; nth += 1) {
      assert.equal(fieldsOf(await embed('one')).title, SHOWN.title)
    }
    assert.equal((await visit(stage.service.port, '/one')).status, 302)
    // The limit is known to be used up with the first visitor who gets nothing.
    assert.equal((await visit(stage.service.port, '/one')).status, 410)
    await eventually(async () => assert.equal((await embed('one')).status, 404))
    await eventually(async () => {
      const { body } = await stage.api.get(`/links/${id}/clicks?bots=include`)
      assert.deepEqual([body.total.clicks, body.total.bots], [1, 0])
    })
  })

  test('says nothing of links that lead in circles', async () => {
    const other = await stage.service.api('circle')
    await createLink(stage.api, { key: 'circle', url: 'https://localhost/back', ...SHOWN })
    await createLink(other, { key: 'back', url: 'https://localhost/circle', ...SHOWN })
    assert.equal((await visit(stage.service.port, '/circle')).status, 508)
    assert.equal((await embed('circle')).status, 404)
  })

  test('follows a change of the link at once', async () => {
    const { id } = await createLink(stage.api, { key: 'changed', url: DESTINATION, ...SHOWN })
    assert.equal(fieldsOf(await embed('changed')).title, SHOWN.title)
    expectStatus(await stage.api.patch(`/links/${id}/options`, { title: 'Summer' }), 200)
    assert.equal(fieldsOf(await embed('changed')).title, 'Summer')
    expectStatus(await stage.api.delete(`/links/${id}`), 200)
    assert.equal((await embed('changed')).status, 404)
  })
})

onSqlite('a request for oEmbed', (stage) => {
  const embed = (key: string, more = '') => ask(stage.service.port, key, more)
  before(() => createLink(stage.api, { key: 'shown', url: DESTINATION, ...SHOWN }))

  for (const [name, path, status] of [
    ['names no URL', '/oembed', 400],
    ['names something else', '/oembed?url=shown', 400],
    ['has a width that is none', pathFor('https://localhost/shown', '&maxwidth=wide'), 400],
    [
      'asks for a format that there is not',
      pathFor('https://localhost/shown', '&format=yaml'),
      501,
    ],
    ['names no link', pathFor('https://localhost/none'), 404],
    ['names the host alone', pathFor('https://localhost/'), 404],
    ['names a page of the service', pathFor('https://localhost/app/links'), 404],
    ['names what is no page', pathFor('javascript:alert(1)'), 404],
    ['names another site', pathFor('https://unknown.example/shown'), 404],
    ['names what is no host', pathFor('https://a%2Cb/shown'), 404],
  ] as const) {
    test(`that ${name} gets ${status}`, async () => {
      const { status: answered, body, headers } = await visit(stage.service.port, path)
      assert.equal(answered, status, body)
      assert.equal(typeof JSON.parse(body).message, 'string')
      assert.equal(headers['access-control-allow-origin'], '*')
    })
  }

  test('gets XML where it asks for it', async () => {
    const { headers, body } = await embed('shown', '&format=xml')
    assert.equal(headers['content-type'], 'text/xml; charset=utf-8')
    assert.equal(
      body,
      '<?xml version="1.0" encoding="UTF-8"?>\n<oembed><version>1.0</version><type>link</type>' +
        '<title>Spring &amp; &lt;sale&gt;</title><description>Up to 50 % off</description>' +
        '<provider_name>localhost</provider_name><provider_url>https://localhost/</provider_url>' +
        '<cache_age>3600</cache_age></oembed>\n',
    )
  })

  test('gets no thumbnail larger than it takes, and none without a known size', async () => {
    const image = await uploadImage(stage.api)
    await createLink(stage.api, { key: 'image', url: DESTINATION, image })
    await createLink(stage.api, {
      key: 'foreign',
      url: DESTINATION,
      image: 'https://e.example/a.png',
    })
    const thumbnail = async (key: string, more: string) =>
      JSON.parse((await embed(key, more)).body).thumbnail_url
    assert.equal(await thumbnail('image', '&maxwidth=40&maxheight=20'), image)
    assert.equal(await thumbnail('image', '&maxwidth=39'), undefined)
    assert.equal(await thumbnail('image', '&maxheight=19'), undefined)
    assert.equal(await thumbnail('foreign', ''), undefined)
  })

  test('may keep the answer until the link expires', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString()
    await createLink(stage.api, { key: 'soon', url: DESTINATION, expires_at })
    const { headers, body } = await embed('soon')
    const { cache_age } = JSON.parse(body)
    assert.ok(cache_age > 0 && cache_age <= 60, body)
    assert.equal(headers['cache-control'], `public, max-age=${cache_age}`)
  })

  test('is found in the page that programs get of a link', async () => {
    const headers = { 'user-agent': FACEBOOK }
    const { body } = await visit(stage.service.port, '/shown?x=1', { headers })
    const found = body.matchAll(/<link rel="alternate" type="([^"]+)" href="([^"]+)">/g)
    const types: string[] = []
    for (const [, type = '', href = ''] of found) {
      const { pathname, search, origin } = new URL(href.replaceAll('&amp;', '&'))
      assert.equal(origin, `http://localhost:${stage.service.port}`)
      const answer = await visit(stage.service.port, pathname + search)
      assert.match(answer.body, /Spring/)
      assert.equal(answer.headers['content-type'], `${type.replace('+oembed', '')}; charset=utf-8`)
      types.push(type)
    }
    assert.deepEqual(types, ['application/json+oembed', 'text/xml+oembed'])
  })

  test('is refused where the key of a new link would take its path', async () => {
    const body = { domain: 'localhost', url: DESTINATION }
    for (const key of ['oembed', 'Oembed/a']) {
      const refused = await stage.api.post('/links', { ...body, key })
      assert.equal(refused.body.faults?.key?.[0]?.reason, 'service', key)
    }
  })
})

onSqlite(
  'requests for oEmbed of one address',
  (stage) => {
    test('are limited as others without a token', async () => {
      await createLink(stage.api, { key: 'often', url: DESTINATION })
      const answers = []
      for (let nth = 0; nth < 4; nth += 1) answers.push(await ask(stage.service.port, 'often'))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 429],
      )
      assert.match(answers.at(-1)?.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    })
  },
  { TERSE_RATE_LIMIT: '3' },
)

// SQLite is in-process and cannot become unavailable.
for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('oEmbed while PostgreSQL is down', () => {
    let service: Service
    before(async () => {
      service = await startService(engine)
      const api = await service.api('acme')
      await createLink(api, { key: 'cached', ...SHOWN })
      await visit(service.port, '/cached')
      await closeDatabase(service.place)
    })
    after(async () => {
      await reopenDatabase(service.place)
      await service.stop()
    })

    test('shows the links that are cached, and asks to come back for others', async () => {
      assert.equal((await ask(service.port, 'cached')).status, 200)
      const { status, headers } = await ask(service.port, 'unknown')
      assert.equal(status, 503)
      assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/)
    })
  })
}
