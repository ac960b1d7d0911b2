import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { compatToken } from '../support/compat.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

type Parameters = Readonly<Record<string, string>>
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

const DATE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
const NOW = () => String(Math.floor(Date.now() / 1000))

const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** A client that sends requests with a token as `signature`. */
function client(baseUrl: string, signature: string) {
  const get = (parameters: Parameters) =>
    fetch(`${baseUrl}/yourls-api.php?${new URLSearchParams(parameters)}`)
  const post = (body: URLSearchParams | FormData | string, headers = {}) =>
    fetch(`${baseUrl}/yourls-api.php`, { method: 'POST', body, headers })
  const call = async (action: string, parameters: Parameters = {}, format = 'json') => {
    const all = { signature, action, format, ...parameters }
    const response = await post(new URLSearchParams(all))
    const text = await response.text()
    const body: Body = format === 'json' ? JSON.parse(text) : text
    const { status, headers } = response
    const retryAfter = headers.get('retry-after')
    return { status, type: headers.get('content-type'), retryAfter, body }
  }
  return { get, post, call }
}

onEachEngine('the API of YOURLS', (stage) => {
  let secret: string
  let yourls: ReturnType<typeof client>
  before(async () => {
    secret = await compatToken(stage.service, 'compat:yourls')
    yourls = client(stage.service.baseUrl, secret)
  })

  test('makes a link, with its keyword and title', async () => {
    const sent = { url: 'http://a.example/', keyword: 'ab', title: 'T' }
    const { status, body } = await yourls.call('shorturl', sent)
    assert.equal(status, 200)
    assert.match(body.url.date, DATE)
    assert.deepEqual(body, {
      status: 'success',
      code: '',
      message: 'http://a.example/ added to database',
      errorCode: '',
      statusCode: '200',
      url: { keyword: 'ab', url: 'http://a.example/', title: 'T', date: body.url.date, ip: '' },
      title: 'T',
      shorturl: 'https://localhost/ab',
    })
    const { data } = (await stage.api.get('/links?key=ab&include=options')).body
    assert.equal(data[0].options.notes, 'T')
  })

  test('refuses a known URL with its short URL', async () => {
    const url = 'http://known.example/'
    const first = await yourls.call('shorturl', { url })
    const { status, body } = await yourls.call('shorturl', { url, keyword: 'other' })
    assert.equal(status, 400)
    const { shorturl } = first.body
    assert.deepEqual(body, {
      status: 'fail',
      code: 'error:url',
      message: `${url} already exists in database (short URL: ${shorturl.replace('https://', '')})`,
      errorCode: '400',
      statusCode: '400',
      url: { ...first.body.url, clicks: 0 },
      title: url,
      shorturl,
    })
    assert.equal((await yourls.call('shorturl', { url }, 'simple')).body, shorturl)
  })

  const SPECIAL = [
    { name: 'asks for a password', fields: { password: 'secret' } },
    { name: 'leads iPhones elsewhere', fields: { ios: 'https://apps.example/' } },
    { name: 'leads Android devices elsewhere', fields: { android: 'https://apps.example/' } },
    { name: 'has a limit of clicks', fields: { max_clicks: 9 } },
  ]
  for (const [nth, { name, fields }] of SPECIAL.entries())
    test(`makes a link to a URL whose only link ${name}`, async () => {
      const url = `https://special.example/${nth}`
      await createLink(stage.api, { url, ...fields })
      assert.equal((await yourls.call('shorturl', { url })).status, 200)
    })

  const REFUSED = [
    { sent: { url: '' }, code: 'error:nourl', message: 'Missing or malformed URL' },
    { sent: { url: 'not a url' }, code: 'error:nourl', message: 'Missing or malformed URL' },
    {
      sent: { url: 'https://b.example/', keyword: 'taken' },
      code: 'error:keyword',
      message: 'Short URL taken already exists in database or is reserved',
    },
    {
      sent: { url: 'https://b.example/', keyword: 'api' },
      code: 'error:keyword',
      message: 'Short URL api already exists in database or is reserved',
    },
    {
      sent: { url: 'https://b.example/', keyword: 'a b' },
      code: 'error:keyword',
      message: 'Short URL a b may hold only letters, digits, emoji, "-", "_", ".", "~" and "/"',
    },
    {
      sent: { url: 'http://localhost/taken' },
      code: 'error:noloop',
      message: 'URL is a short URL',
    },
  ]
  for (const { sent, code, message } of REFUSED)
    test(`refuses ${JSON.stringify(sent)} with ${code}`, async () => {
      await yourls.call('shorturl', { url: 'https://taken.example/', keyword: 'taken' })
      const { status, body } = await yourls.call('shorturl', sent)
      assert.equal(status, 400)
      const codes = { errorCode: '400', statusCode: '400' }
      assert.deepEqual(body, { status: 'fail', code, message, ...codes })
      assert.equal((await yourls.call('shorturl', sent, 'simple')).body, '')
    })

  test('expands a keyword, or a whole address', async () => {
    const made = { url: 'https://long.example/x', keyword: 'café', title: 'Long' }
    const { shorturl } = (await yourls.call('shorturl', made)).body
    for (const name of ['café', shorturl, 'http://localhost/caf%C3%A9']) {
      const { status, body } = await yourls.call('expand', { shorturl: name })
      const found = { keyword: 'café', shorturl, longurl: 'https://long.example/x', title: 'Long' }
      assert.equal(status, 200)
      assert.deepEqual(body, { ...found, message: 'success', statusCode: '200' })
    }
    assert.equal((await yourls.call('expand', { shorturl: 'nosuch' }, 'simple')).body, 'not found')
    const { status, body } = await yourls.call('expand', { shorturl: 'nosuch' })
    assert.equal(status, 404)
    const message = 'Error: short URL not found'
    assert.deepEqual(body, { keyword: 'nosuch', message, errorCode: '404' })
  })

  test('counts the clicks of a link, and of all', async () => {
    const { shorturl } = (await yourls.call('shorturl', { url: 'https://hot.example/' })).body
    const before = (await yourls.call('db-stats')).body['db-stats']
    await visit(stage.service.port, new URL(shorturl).pathname)
    await eventually(async () => {
      const { body } = await yourls.call('url-stats', { shorturl })
      assert.deepEqual(body, {
        statusCode: '200',
        message: 'success',
        link: {
          shorturl,
          url: 'https://hot.example/',
          title: 'https://hot.example/',
          timestamp: body.link.timestamp,
          ip: '',
          clicks: 1,
        },
      })
      assert.match(body.link.timestamp, DATE)
      const { body: all } = await yourls.call('db-stats')
      const totals = { ...before, total_clicks: before.total_clicks + 1 }
      assert.deepEqual(all, { 'db-stats': totals, statusCode: '200', message: 'success' })
      const top = (await yourls.call('stats', { filter: 'top', limit: '1' })).body
      assert.deepEqual(top.links, { link_1: body.link })
    })
    const unknown = await yourls.call('url-stats', { shorturl: 'nosuch' })
    assert.equal(unknown.status, 404)
    assert.deepEqual(unknown.body, { statusCode: '404', message: 'Error: short URL not found' })
  })

  test('lists links by filter, limit and start', async () => {
    for (const nth of [1, 2, 3])
      await yourls.call('shorturl', { url: `https://list.example/${nth}`, keyword: `list${nth}` })
    const list = async (parameters: Parameters) => {
      const { body } = await yourls.call('stats', parameters)
      const links: { shorturl: string }[] = Object.values(body.links ?? {})
      return links.map(({ shorturl }) => shorturl.replace('https://localhost/', ''))
    }
    assert.deepEqual(await list({ filter: 'last', limit: '2' }), ['list3', 'list2'])
    assert.deepEqual(await list({ filter: 'last', limit: '2', start: '1' }), ['list2', 'list1'])
    assert.equal((await list({ filter: 'rand', limit: '3' })).length, 3)
    assert.equal((await list({ filter: 'bottom', limit: '3' })).length, 3)
    for (const parameters of [{}, { limit: '0' }, { limit: '5', start: '9000' }]) {
      const { body } = await yourls.call('stats', parameters)
      assert.deepEqual(Object.keys(body), ['stats', 'statusCode', 'message'])
    }
  })

  test('finds no link of another workspace', async () => {
    const globex = await stage.service.api('globex')
    await createLink(globex, { key: 'globex', url: 'https://globex.example/' })
    assert.equal((await yourls.call('expand', { shorturl: 'globex' })).status, 404)
    assert.equal((await yourls.call('url-stats', { shorturl: 'globex' })).status, 404)
    const { body } = await yourls.call('shorturl', { url: 'https://globex.example/' })
    assert.equal(body.status, 'success')
    const taken = { url: 'https://c.example/', keyword: 'globex' }
    assert.equal((await yourls.call('shorturl', taken)).body.code, 'error:keyword')
  })

  test('logs each link that it makes with its token', async () => {
    const { body } = await yourls.call('shorturl', { url: 'https://logged.example/' })
    const [event] = (await stage.api.get('/events?type=link.created')).body.data
    assert.equal(event.after.key, body.url.keyword)
    assert.equal(event.actor.kind, 'token')
  })

  describeFormats(stage, () => yourls)
  describeClients(stage, () => ({ yourls, secret }))
  describeRefusals(stage, () => ({ yourls, secret }))
})

function describeFormats(_stage: Stage, given: () => ReturnType<typeof client>) {
  test('answers as XML', async () => {
    const { type, body } = await given().call('version', { callback: 'a&"<' }, 'xml')
    assert.equal(type, 'application/xml; charset=utf-8')
    const root = '<root><version>1.10.4</version><callback>a&amp;"&lt;</callback></root>'
    assert.equal(body, `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`)
    const nested = (await given().call('db-stats', {}, 'xml')).body
    assert.match(nested, /<root><db-stats><total_links>\d+<\/total_links><total_clicks>\d+</)
    const failed = (await given().call('shorturl', {}, 'xml')).body
    assert.match(failed, /<code>error:nourl<\/code>/)
  })

  test('answers as JSONP, and refuses a name that could be a script', async () => {
    for (const name of ['callback', 'jsonp']) {
      const { type, body } = await given().call('version', { [name]: 'cb.x' }, 'jsonp')
      assert.equal(type, 'application/javascript; charset=utf-8')
      assert.equal(body, 'cb.x({"version":"1.10.4","callback":"cb.x"})')
    }
    const { status, body } = await given().call('version', { callback: 'cb[0]' }, 'jsonp')
    assert.equal(status, 400)
    assert.equal(body, '{"errorCode":"400","error":"Invalid callback parameter"}')
  })

  test('answers the simple form to every other format', async () => {
    for (const format of ['simple', 'JSON', '']) {
      const { type, body } = await given().call('version', {}, format)
      assert.deepEqual([type, body], ['text/plain; charset=utf-8', '1.10.4'])
    }
    const { body } = await given().call('stats', {}, 'simple')
    assert.equal(body, 'Need either XML or JSON format for stats')
  })

  test('names its version, and that of its database where asked', async () => {
    assert.deepEqual((await given().call('version')).body, { version: '1.10.4' })
    const { body } = await given().call('version', { db: '1' })
    assert.deepEqual(body, { version: '1.10.4', db_version: '507' })
  })

  for (const action of ['', 'delete', 'constructor'])
    test(`refuses the action ${JSON.stringify(action)}`, async () => {
      const { status, body } = await given().call(action)
      assert.equal(status, 400)
      const message = 'Unknown or missing "action" parameter'
      assert.deepEqual(body, { errorCode: '400', message })
    })
}

type Given = () => { yourls: ReturnType<typeof client>; secret: string }

function describeClients(stage: Stage, given: Given) {
  test('answers ShareX, whose whole answer is the link', async () => {
    const { yourls, secret } = given()
    const sent = { signature: secret, action: 'shorturl', url: 'https://sharex.example/?a=1&b=2' }
    const boundary = '--------------------8de0123456789ab'
    const parts = Object.entries({ ...sent, format: 'simple' }).map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    for (const status of [200, 400]) {
      const response = await yourls.post(`${parts.join('')}--${boundary}--\r\n`, headers)
      assert.equal(response.status, status)
      const shorturl = await response.text()
      const { body } = await yourls.call('expand', { shorturl })
      assert.equal(body.longurl, sent.url)
    }
  })

  test("answers the example of YOURLS's own repository, a form with user and password", async () => {
    const { yourls, secret } = given()
    const form = new FormData()
    const sent = { url: 'http://planetozh.example/blog/', keyword: 'ozh', title: 'Super blog!' }
    const login = { username: 'joe', password: secret }
    for (const [name, value] of Object.entries({ ...sent, format: 'json', action: 'shorturl' }))
      form.append(name, value)
    for (const [name, value] of Object.entries(login)) form.append(name, value)
    const response = await yourls.post(form)
    assert.equal(response.status, 200)
    const { shorturl, title } = (await response.json()) as Body
    assert.deepEqual([shorturl, title], ['https://localhost/ozh', 'Super blog!'])
  })

  test('answers the plugin of WordPress, which sends all in the query', async () => {
    const { yourls, secret } = given()
    const login = { username: 'admin', password: secret, format: 'json' }
    const url = 'https://blog.example/2026/11/post'
    const post = { ...login, url, keyword: '', title: '', source: 'plugin', action: 'shorturl' }
    const first = (await (await yourls.get(post)).json()) as Body
    const again = (await (await yourls.get(post)).json()) as Body
    assert.equal(again.shorturl, first.shorturl)
    const { shorturl } = first
    const found = await yourls.get({ ...login, shorturl, action: 'expand' })
    assert.equal(((await found.json()) as Body).longurl, url)
  })

  test('answers better-yourls, which signs with a time and wants the bare link', async () => {
    const { yourls, secret } = given()
    const timestamp = NOW()
    const signature = digest('md5', timestamp + secret)
    const url = 'https://better.example/'
    const form = { timestamp, signature, action: 'shorturl', url, format: 'JSON' }
    const response = await yourls.post(new URLSearchParams(form))
    assert.match(await response.text(), /^https:\/\/localhost\/[a-z\d]+$/)
  })

  const SIGNED = [
    {
      name: 'md5 of time and token',
      sign: (time: string, key: string) => digest('md5', time + key),
    },
    {
      name: 'md5 of token and time',
      sign: (time: string, key: string) => digest('md5', key + time),
    },
    { name: 'sha256', sign: (time: string, key: string) => digest('sha256', time + key) },
    {
      name: 'sha512, named',
      hash: 'sha512',
      sign: (time: string, key: string) => digest('sha512', key + time),
    },
  ]
  for (const { name, hash, sign } of SIGNED)
    test(`accepts a timed signature: ${name}`, async () => {
      const { yourls, secret } = given()
      // Another token's secret is tried before it.
      await compatToken(stage.service, 'compat:yourls', 'globex')
      const timestamp = NOW()
      const sent = { timestamp, signature: sign(timestamp, secret), ...(hash && { hash }) }
      const { status, body } = await yourls.call('version', sent)
      assert.deepEqual([status, body], [200, { version: '1.10.4' }])
    })
}

function describeRefusals(stage: Stage, given: Given) {
  const ago = (seconds: number) => String(Math.floor(Date.now() / 1000) - seconds)
  const LOGIN = 'Please log in'
  const WRONG = 'Invalid username or password'
  const UNKNOWN: readonly {
    name: string
    message: string
    parameters: (secret: string) => Parameters
  }[] = [
    { name: 'nothing', message: LOGIN, parameters: () => ({}) },
    {
      name: 'an unknown signature',
      message: LOGIN,
      parameters: () => ({ signature: 'a1b2c3d4e5' }),
    },
    {
      name: 'a wrong password',
      message: WRONG,
      parameters: () => ({ username: 'joe', password: 'x' }),
    },
    {
      name: 'a signature of thirteen hours ago',
      message: LOGIN,
      parameters: (secret) => {
        const timestamp = ago(13 * 3600)
        return { timestamp, signature: digest('md5', timestamp + secret) }
      },
    },
    {
      name: 'a time with more behind it',
      message: LOGIN,
      parameters: (secret) => {
        const timestamp = `${NOW()}x`
        return { timestamp, signature: digest('md5', secret + timestamp) }
      },
    },
    {
      name: 'a signature of another secret',
      message: LOGIN,
      parameters: () => ({ timestamp: NOW(), signature: digest('md5', `${NOW()}x`) }),
    },
    {
      name: 'an algorithm that is none',
      message: LOGIN,
      parameters: () => ({ timestamp: NOW(), signature: 'ab', hash: 'crc32' }),
    },
  ]
  for (const { name, message, parameters } of UNKNOWN)
    test(`asks to log in for ${name}`, async () => {
      const { yourls, secret } = given()
      const sent = { action: 'version', format: 'json', ...parameters(secret) }
      const response = await yourls.get(sent)
      assert.equal(response.status, 403)
      assert.deepEqual(await response.json(), { message, errorCode: '403', callback: '' })
      const simple = await yourls.get({ ...sent, format: 'simple' })
      assert.equal(await simple.text(), message)
      const { format: _, ...unformatted } = sent
      const root = `<root><message>${message}</message><errorCode>403</errorCode><callback/></root>`
      assert.ok((await (await yourls.get(unformatted)).text()).endsWith(`\n${root}\n`))
    })

  test('refuses a token for something else, and its own token the API', async () => {
    const { yourls, secret } = given()
    for (const signature of [stage.token, await compatToken(stage.service, 'compat:kutt')])
      assert.equal((await yourls.call('version', { signature })).status, 403)
    const api = apiClient(stage.service.baseUrl, secret)
    assert.equal((await api.get('/links')).status, 403)
  })

  test('refuses every token while it is switched off', async () => {
    const { yourls } = given()
    expectStatus(await stage.api.put('/compat/yourls', { enabled: false }), 200)
    assert.equal((await yourls.call('version')).status, 403)
    expectStatus(await stage.api.put('/compat/yourls', { enabled: true }), 200)
    assert.equal((await yourls.call('version')).status, 200)
  })

  test('refuses a body that is too large in the form of YOURLS', async () => {
    const { yourls, secret } = given()
    const query = new URLSearchParams({ signature: secret, format: 'json' })
    const response = await fetch(`${stage.service.baseUrl}/yourls-api.php?${query}`, {
      method: 'POST',
      body: 'x'.repeat(70_000),
    })
    assert.equal(response.status, 413)
    assert.equal(((await response.json()) as Body).errorCode, '413')
    assert.equal((await yourls.call('version')).status, 200)
  })
}

describe('the limits of the API of YOURLS', () => {
  test('are answered in its form, with when to come back', async (t) => {
    const service = await startService(SQLITE, { TERSE_RATE_LIMIT: '2' })
    t.after(() => service.stop())
    const { call } = client(service.baseUrl, await compatToken(service, 'compat:yourls'))
    const statuses = [(await call('version')).status, (await call('version')).status]
    assert.deepEqual(statuses, [200, 200])
    const { status, body, retryAfter } = await call('version')
    assert.equal(status, 429)
    assert.equal(body.errorCode, '429')
    assert.match(retryAfter ?? '', /^\d+$/)
    const signed = await client(service.baseUrl, 'x').get({
      timestamp: NOW(),
      signature: digest('md5', 'x'),
      format: 'json',
    })
    assert.equal(signed.status, 403)
  })
})
