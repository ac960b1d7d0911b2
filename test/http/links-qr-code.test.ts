import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { parseModuleColor } from '../../src/links/qr/qr-code.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink } from '../support/links.ts'
import { onSqlite, type Stage } from '../support/on-each-engine.ts'
import { cases } from '../support/properties.ts'
import { scan } from '../support/scan.ts'
import { visit } from '../support/visit.ts'

const PNG_SIGNATURE = '89504e470d0a1a0a'
const JSON_TYPE = { 'content-type': 'application/json' }

/** Each picture is drawn, sent and scanned, which takes some hundredths of a second. */
const COLORS = 20

type Picture = { readonly headers: Headers; readonly png: Buffer }

async function fetchPicture(
  { service, token }: Stage,
  path: string,
  init: RequestInit = {},
): Promise<Picture> {
  const headers = { ...init.headers, authorization: `Bearer ${token}` }
  const response = await fetch(`${service.baseUrl}/api/v1${path}`, { ...init, headers })
  const png = Buffer.from(await response.arrayBuffer())
  assert.equal(response.status, 200, png.toString())
  return { headers: response.headers, png }
}

function withBody(body: unknown): RequestInit {
  return { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify(body) }
}

onSqlite('the QR code of a link', (stage) => {
  let path: string
  before(async () => {
    path = `/links/${(await createLink(stage.api, { key: 'scan-me' })).id}/qr-code`
  })

  for (const [what, init] of [
    ['PUT without a body', { method: 'PUT' }],
    ['PUT with a JSON content type and no body', { method: 'PUT', headers: JSON_TYPE }],
    ['PUT with an empty object', withBody({})],
    ['PUT with null', withBody(null)],
    ['PUT with parameters that are null', withBody({ color: null, download: null })],
    ['GET', {}],
    ['GET with a JSON content type', { headers: JSON_TYPE }],
  ] as const) {
    test(`is a black and white PNG of the short link for ${what}`, async () => {
      const { headers, png } = await fetchPicture(stage, path, init)
      assert.equal(headers.get('content-type'), 'image/png')
      assert.equal(headers.get('content-disposition'), 'inline; filename="localhost-scan-me.png"')
      assert.equal(png.subarray(0, 8).toString('hex'), PNG_SIGNATURE)
      const code = scan(png)
      assert.equal(code.text, 'https://localhost/scan-me')
      assert.deepEqual(code.colors, ['#ffffff', '#000000'])
    })
  }

  test('returns 304 for its ETag until the picture changes', async () => {
    const first = await fetchPicture(stage, path)
    const tag = first.headers.get('etag') ?? ''
    const headers = { 'if-none-match': tag }
    const same = await stage.api.send('GET', path, { headers })
    assert.equal(same.status, 304)
    assert.equal(same.body, '')
    const other = await fetchPicture(stage, `${path}?color=%23112233`, { headers })
    assert.notEqual(other.headers.get('etag'), tag)
  })

  test('has a quiet zone of 4 modules and error correction of level M or better', async () => {
    for (const key of ['q', 'q'.repeat(60), 'q'.repeat(190)]) {
      const { id } = await createLink(stage.api, { key })
      const code = scan((await fetchPicture(stage, `/links/${id}/qr-code`)).png)
      assert.equal(code.text, `https://localhost/${key}`)
      assert.deepEqual(code.quietZone, [4, 4, 4, 4])
      assert.match(code.errorLevel, /^[MQH]$/)
    }
  })

  for (const [what, query, body, color, disposition] of [
    ['color in the query', '?color=%23112233', undefined, '#112233', 'inline'],
    ['download in the query', '?download=true', undefined, '#000000', 'attachment'],
    ['download=1', '?download=1', undefined, '#000000', 'attachment'],
    ['download=0', '?download=0', undefined, '#000000', 'inline'],
    ['both in the query', '?download=true&color=%23AA0000', undefined, '#aa0000', 'attachment'],
    ['color in the body', '', { color: '#112233' }, '#112233', 'inline'],
    ['download in the body', '', { download: true }, '#000000', 'attachment'],
    ['both in the body', '', { download: true, color: '#AA0000' }, '#aa0000', 'attachment'],
    ['one in each', '?color=%23112233', { download: true }, '#112233', 'attachment'],
    ['color in both', '?color=%23112233', { color: '#000080' }, '#000080', 'inline'],
    ['download in both', '?download=true', { download: false }, '#000000', 'inline'],
  ] as const) {
    test(`accepts ${what}; the body overrides the query`, async () => {
      const { headers, png } = await fetchPicture(stage, path + query, {
        method: 'PUT',
        ...(body !== undefined && withBody(body)),
      })
      const file = 'filename="localhost-scan-me.png"'
      assert.equal(headers.get('content-disposition'), `${disposition}; ${file}`)
      assert.deepEqual(scan(png).colors, ['#ffffff', color])
    })
  }

  test('accepts color and download in the query of a GET', async () => {
    const { headers, png } = await fetchPicture(stage, `${path}?color=%23AA0000&download=true`)
    assert.match(headers.get('content-disposition') ?? '', /^attachment; /)
    assert.deepEqual(scan(png).colors, ['#ffffff', '#aa0000'])
  })

  for (const [what, query, body, text] of [
    ['track in the query', '?track=true', undefined, 'https://localhost/scan-me?qr=1'],
    ['track=1', '?track=1', undefined, 'https://localhost/scan-me?qr=1'],
    ['track=0', '?track=0', undefined, 'https://localhost/scan-me'],
    ['track in the body', '', { track: true }, 'https://localhost/scan-me?qr=1'],
    ['track in both', '?track=true', { track: false }, 'https://localhost/scan-me'],
    [
      'null for track in the body',
      '?track=true',
      { track: null },
      'https://localhost/scan-me?qr=1',
    ],
  ] as const) {
    test(`accepts ${what}; the body overrides the query`, async () => {
      const { png } = await fetchPicture(stage, path + query, {
        method: 'PUT',
        ...(body !== undefined && withBody(body)),
      })
      assert.equal(scan(png).text, text)
    })
  }

  test('accepts track in the query of a GET', async () => {
    const { png } = await fetchPicture(stage, `${path}?track=true`)
    assert.equal(scan(png).text, 'https://localhost/scan-me?qr=1')
  })

  test('contains the address at which the link opens, on request', async () => {
    const { port } = stage.service
    const { png } = await fetchPicture(stage, `${path}?address=visit&track=true`)
    assert.equal(scan(png).text, `http://localhost:${port}/scan-me?qr=1`)
    const body = withBody({ address: 'visit' })
    const drawn = await fetchPicture(stage, path, { method: 'PUT', ...body })
    assert.equal(scan(drawn.png).text, `http://localhost:${port}/scan-me`)
  })

  test('of a tracked link redirects to the destination without the mark', async () => {
    const { id } = await createLink(stage.api, { key: 'tracked', url: 'https://example.com/?a=1' })
    const { png } = await fetchPicture(stage, `/links/${id}/qr-code?track=true`)
    const { pathname, search } = new URL(scan(png).text)
    const answer = await visit(stage.service.port, pathname + search)
    assert.equal(answer.headers.location, 'https://example.com/?a=1')
  })

  for (const [what, color] of [
    ['three digits', '#123'],
    ['eight digits', '#11223344'],
    ['no number sign', '112233'],
    ['a colour name', 'black'],
    ['letters that are not hexadecimal', '#gggggg'],
    ['a line break', '#112233\n'],
    ['an empty text', ''],
    ['a pale colour', '#eeeeee'],
  ] as const) {
    test(`returns 422 for ${what} as color, in the query and in the body`, async () => {
      const query = `?color=${encodeURIComponent(color)}`
      expectInvalid(await stage.api.get(path + query), 'color')
      expectInvalid(await stage.api.put(path + query), 'color')
      expectInvalid(await stage.api.put(path, { color }), 'color')
    })
  }

  test('returns 422 for other types and unknown fields by name', async () => {
    expectInvalid(await stage.api.put(path, { color: 0x11_22_33 }), 'color')
    expectInvalid(await stage.api.put(path, { download: 'yes' }), 'download')
    expectInvalid(await stage.api.put(path, { track: 'yes' }), 'track')
    expectInvalid(await stage.api.get(`${path}?track=maybe`), 'track')
    expectInvalid(await stage.api.put(path, { colour: '#112233' }), 'colour')
    expectInvalid(await stage.api.get(`${path}?download=maybe`), 'download')
    expectInvalid(await stage.api.get(`${path}?color=%23112233&color=%23112233`), 'color')
  })

  for (const color of ['#000080', '#0000ff', '#ff0000', '#008000', '#800080', '#595959']) {
    test(`accepts ${color}, which is dark enough`, async () => {
      const code = scan((await fetchPicture(stage, path, withBody({ color }))).png)
      assert.equal(code.text, 'https://localhost/scan-me')
      assert.deepEqual(code.colors, ['#ffffff', color])
    })
  }

  for (const color of ['#ffffff', '#ffff00', '#00ff00', '#00ffff', '#c0c0c0', '#959595']) {
    test(`returns 422 for ${color} as too pale`, async () => {
      const answer = await stage.api.put(path, { color })
      expectInvalid(answer, 'color')
      assert.match(answer.body.errors.color[0], /pale/)
    })
  }

  test('can be scanned in every accepted colour, the palest too', async () => {
    const channel = fc.integer({ min: 0, max: 255 })
    await fc.assert(
      fc.asyncProperty(fc.tuple(channel, channel, channel), fc.boolean(), async (rgb, palest) => {
        const color = palest ? palestAccepted(rgb) : hex(rgb)
        if ('fault' in parseModuleColor(color)) {
          expectInvalid(await stage.api.put(path, { color }), 'color')
        } else {
          const { png } = await fetchPicture(stage, path, withBody({ color }))
          assert.equal(scan(png).text, 'https://localhost/scan-me', color)
        }
      }),
      { ...cases(COLORS), examples: HUES.map((hue) => [hue, true]) },
    )
  })

  test('contains an address that scanners can read for a key in any script, and an ASCII file name', async () => {
    for (const [key, read] of [
      ['a/b', 'https://localhost/a/b'],
      ['été', 'https://localhost/%C3%A9t%C3%A9'],
      ['春', 'https://localhost/%E6%98%A5'],
    ]) {
      const { id } = await createLink(stage.api, { key })
      const { headers, png } = await fetchPicture(stage, `/links/${id}/qr-code`)
      assert.equal(scan(png).text, read)
      const disposition = headers.get('content-disposition') ?? ''
      assert.match(disposition, /^inline; filename="localhost-[a-zA-Z0-9._-]+\.png"(;|$)/)
    }
  })

  test('can be drawn for the longest possible link', async () => {
    const domain = `${'a.'.repeat(120)}example.com`
    const { id, link } = await createLink(stage.api, { domain, key: '𝒳'.repeat(190) })
    for (const [query, mark] of [
      ['', ''],
      ['?track=true', '?qr=1'],
    ]) {
      const { text } = scan((await fetchPicture(stage, `/links/${id}/qr-code${query}`)).png)
      assert.equal(decodeURI(text), `${link}${mark}`)
    }
  })
})

/** Hues whose palest accepted shade is farthest from grey. */
const HUES: [number, number, number][] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 0],
  [0, 255, 255],
  [255, 0, 255],
  [255, 255, 255],
]

/** The brightest accepted shade of a hue. */
function palestAccepted(hue: readonly number[]): string {
  for (let percent = 100; percent > 0; percent -= 1) {
    const color = hex(hue.map((channel) => Math.round((channel * percent) / 100)))
    if ('value' in parseModuleColor(color)) return color
  }
  return '#000000'
}

function hex(rgb: readonly number[]): string {
  return `#${Buffer.from(rgb).toString('hex')}`
}
