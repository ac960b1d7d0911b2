import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PNG } from 'pngjs'
import type { Api } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink } from '../support/links.ts'
import { scan } from '../support/scan.ts'
import { type Service, startService } from '../support/service.ts'

describe('the options of a QR code', () => {
  let service: Service
  let api: Api
  let token: string
  let path: string
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api()
    token = await service.token()
    path = `/links/${(await createLink(api, { key: 'scan-me' })).id}/qr-code`
  })
  after(() => service.stop())

  async function fetchPicture(target: string, body?: object) {
    const response = await fetch(`${service.baseUrl}/api/v1${target}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const picture = Buffer.from(await response.arrayBuffer())
    assert.equal(response.status, 200, picture.toString())
    return { headers: response.headers, picture }
  }

  for (const [what, fetchIt] of [
    ['the query', () => fetchPicture(`${path}?format=svg&size=300&margin=2&level=H`)],
    ['the body', () => fetchPicture(path, { format: 'svg', size: 300, margin: 2, level: 'H' })],
    ['both', () => fetchPicture(`${path}?format=svg&size=99&level=H`, { size: 300, margin: 2 })],
  ] as const) {
    test(`are accepted in ${what}`, async () => {
      const { headers, picture } = await fetchIt()
      assert.equal(headers.get('content-type'), 'image/svg+xml')
      assert.equal(headers.get('content-disposition'), 'inline; filename="localhost-scan-me.svg"')
      const code = scan(picture)
      assert.equal(code.text, 'https://localhost/scan-me')
      assert.equal(code.side, 300)
      assert.equal(code.errorLevel, 'H')
      assert.ok(Math.min(...code.quietZone) < 4)
    })
  }

  test('that are null in the body leave those of the query in effect', async () => {
    const options = { format: null, size: null, margin: null, level: null }
    const { headers, picture } = await fetchPicture(`${path}?size=400&level=Q`, options)
    assert.equal(headers.get('content-type'), 'image/png')
    const code = scan(picture)
    assert.deepEqual([code.side, code.errorLevel], [400, 'Q'])
  })

  for (const [field, value] of [
    ['format', 'gif'],
    ['size', 63],
    ['size', 2_049],
    ['size', 64.5],
    ['size', 'large'],
    ['margin', -1],
    ['margin', 17],
    ['level', 'X'],
    ['level', 'm'],
    ['colour', '#000000'],
  ] as const) {
    test(`return 422 for ${field} ${value}, in the query and in the body`, async () => {
      expectInvalid(await api.get(`${path}?${field}=${encodeURIComponent(value)}`), field)
      expectInvalid(await api.put(`${path}?${field}=${encodeURIComponent(value)}`), field)
      expectInvalid(await api.put(path, { [field]: value }), field)
    })
  }

  test('include a logo in the body, which needs the level Q or H', async () => {
    const png = PNG.sync.write(new PNG({ width: 16, height: 16 }))
    const logo = `data:image/png;base64,${png.toString('base64')}`
    for (const format of ['png', 'svg']) {
      const code = scan((await fetchPicture(path, { format, logo })).picture)
      assert.deepEqual([code.text, code.errorLevel], ['https://localhost/scan-me', 'H'])
    }
    assert.equal(scan((await fetchPicture(path, { logo, level: 'Q' })).picture).errorLevel, 'Q')
    expectInvalid(await api.put(path, { logo, level: 'M' }), 'level')
    expectInvalid(await api.put(path, { logo: 'https://example.com/logo.png' }), 'logo')
    const damaged = Buffer.from(png).fill(0, 45, 50).toString('base64')
    expectInvalid(await api.put(path, { logo: `data:image/png;base64,${damaged}` }), 'logo')
    expectInvalid(await api.get(`${path}?logo=${encodeURIComponent(logo)}`), 'logo')
  })

  test('return 422 for a size at which this link’s code cannot be read', async () => {
    const { id } = await createLink(api, { key: 'k'.repeat(190) })
    const long = `/links/${id}/qr-code?size=100`
    const answer = await api.get(long)
    expectInvalid(answer, 'size')
    assert.match(answer.body.errors.size[0], /^must be at least \d+ for this link/)
  })

  test('give a download its file name in RFC 6266 form', async () => {
    for (const [key, name] of [
      ['a/b', 'filename="localhost-a-b.png"'],
      ['été', `filename="localhost--t-.png"; filename*=UTF-8''localhost-%C3%A9t%C3%A9.png`],
      ['春', `filename="localhost--.png"; filename*=UTF-8''localhost-%E6%98%A5.png`],
    ] as const) {
      const { id } = await createLink(api, { key })
      const { headers } = await fetchPicture(`/links/${id}/qr-code?download=true`)
      assert.equal(headers.get('content-disposition'), `attachment; ${name}`)
    }
  })

  test('return 304 for the ETag of each format, for HEAD too', async () => {
    const { headers } = await fetchPicture(`${path}?format=svg`)
    const known = { headers: { 'if-none-match': headers.get('etag') ?? '' } }
    assert.equal((await api.send('GET', `${path}?format=svg`, known)).status, 304)
    assert.equal((await api.send('HEAD', `${path}?format=svg`, known)).status, 304)
    assert.equal((await api.send('GET', path, known)).status, 200)
  })
})
