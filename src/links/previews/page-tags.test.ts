import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readPageTags } from './page-tags.ts'

const url = 'https://example.com/shop/spring'

function tagsOf(html: string | Uint8Array, contentType = 'text/html; charset=utf-8') {
  return readPageTags({ html: Buffer.from(html), contentType, url })
}

describe('readPageTags', () => {
  test('prefers Open Graph to Twitter, and both to the title and the description', () => {
    const plain = '<title>T</title><meta name="description" content="D">'
    const twitter =
      '<meta name="twitter:title" content="X"><meta name="twitter:image" content="x.png">'
    const graph =
      '<meta property="og:title" content="G"><meta property="og:image" content="/g.png">'
    assert.deepEqual(tagsOf(plain), { title: 'T', description: 'D', image: null })
    assert.deepEqual(tagsOf(plain + twitter), {
      ...{ title: 'X', description: 'D', image: 'https://example.com/shop/x.png' },
    })
    assert.deepEqual(tagsOf(plain + twitter + graph), {
      ...{ title: 'G', description: 'D', image: 'https://example.com/g.png' },
    })
  })

  for (const [name, html, expected] of [
    ['entities', '<title>A &amp; B &ndash; &#x1F98A;</title>', { title: 'A & B – 🦊' }],
    ['spaces and lines', '<title>\n  A\t\n B </title>', { title: 'A B' }],
    [
      'the first of several',
      '<meta property="og:title" content="1"><meta property="og:title" content="2">',
      { title: '1' },
    ],
    [
      'the next where one is empty',
      '<meta property="og:title" content=" "><title>T</title>',
      { title: 'T' },
    ],
    ['names in capitals', '<META PROPERTY="OG:Title" CONTENT="T">', { title: 'T' }],
    ['og: in name', '<meta name="og:title" content="T">', { title: 'T' }],
    [
      'no title in a script',
      '<script>"<title>no</title>"</script><title>T</title>',
      { title: 'T' },
    ],
    ['no title in a comment', '<!-- <title>no</title> --><title>T</title>', { title: 'T' }],
    [
      'the base of the page',
      '<base href="https://cdn.example/"><meta property="og:image" content="a.png">',
      { image: 'https://cdn.example/a.png' },
    ],
    [
      'no picture but of the web',
      '<meta property="og:image" content="data:image/png;base64,AA==">',
      {},
    ],
    ['no script as a picture', '<meta property="og:image" content="javascript:alert(1)">', {}],
    ['nothing', '', {}],
    ['a page that is cut off', '<title>T</title><meta property="og:ti', { title: 'T' }],
  ] as const) {
    test(`reads ${name}`, () => {
      assert.deepEqual(tagsOf(html), { title: null, description: null, image: null, ...expected })
    })
  }

  test('decodes by the header, else by what the page says, else as UTF-8', () => {
    const latin = Buffer.from('<title>Gr\xfc\xdfe</title>', 'latin1')
    assert.equal(tagsOf(latin, 'text/html; charset=iso-8859-1').title, 'Grüße')
    const said = Buffer.concat([Buffer.from('<meta charset="windows-1252">'), latin])
    assert.equal(tagsOf(said, 'text/html').title, 'Grüße')
    assert.equal(tagsOf('<title>Grüße</title>', 'text/html').title, 'Grüße')
    assert.equal(tagsOf('<title>T</title>', 'text/html; charset=none-such').title, 'T')
  })

  test('returns one line of well-formed text of any bytes', () => {
    const piece = fc.constantFrom(
      '<title>',
      '</title>',
      '<meta name="description" content="',
      '">',
      '\ud800',
      '\0',
      '&#xd800;',
      '\n',
      'a',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
        const { title, description } = tagsOf(pieces.join(''))
        for (const text of [title, description]) {
          assert.ok(text === null || (text.isWellFormed() && !/\p{Cc}/u.test(text) && text !== ''))
        }
      }),
    )
  })
})
