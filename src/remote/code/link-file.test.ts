import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type LinkFile, parseLinkFile } from './link-file.ts'

const HEAD = 'version: 1\nset: flyers\n'

const parse = (text: string, name = 'links.yaml'): LinkFile => parseLinkFile(name, text)

function faultsOf(text: string, name?: string): string[] {
  try {
    parse(text, name)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const [head = '', ...lines] = error.message.split('\n')
    assert.match(head, /^links\.(yaml|json) has (a fault|\d+ faults)\. Nothing was sent\.$/)
    return lines
  }
  return []
}

describe('parseLinkFile', () => {
  test('returns values in the form that the service stores, and those of a new link for the others', () => {
    const { set, links } = parse(`${HEAD}links:
  - link: Go.Example.com/spring
    url: HTTPS://Example.com/a b
    expires_at: 2027-01-01T00:00:00+01:00
    tags: [a, b, a]
    prevent_delete: true
  - {domain: go.example.com, key: plain, url: https://example.com}
`)
    const [first, second] = links
    assert.equal(set, 'flyers')
    assert.equal(first?.name, 'go.example.com/spring')
    assert.equal(first?.values.url, 'https://example.com/a%20b')
    assert.equal(first?.values.expires_at, '2026-12-31T23:00:00.000000Z')
    assert.deepEqual(first?.values.tags, ['a', 'b'])
    assert.equal(first?.values.prevent_delete, true)
    assert.deepEqual([second?.values.path, second?.values.query], ['none', 'merge'])
    assert.deepEqual([second?.values.archived, second?.values.tags], [false, []])
  })

  test('reads the same from JSON, and anchors and merges of YAML', () => {
    const json = {
      version: 1,
      set: 'flyers',
      links: [{ link: 'a.example.com/x', url: 'https://b.example/' }],
    }
    const yaml = `${HEAD}links:
  - &usual {link: a.example.com/x, url: https://b.example/}
  - {<<: *usual, link: a.example.com/y}
`
    const [one] = parse(JSON.stringify(json), 'links.json').links
    assert.deepEqual(one, parse(yaml).links[0])
    assert.equal(parse(yaml).links[1]?.values.url, 'https://b.example/')
  })

  test('takes anchors that each of many links uses', () => {
    const rest = Array.from(
      { length: 300 },
      (_, nth) => `  - {<<: *usual, link: a.example.com/${nth}, tags: *tags}`,
    )
    const { links } = parse(`${HEAD}links:
  - &usual {link: a.example.com/x, url: https://b.example/, tags: &tags [a, b]}
${rest.join('\n')}
`)
    assert.equal(links.length, 301)
    assert.deepEqual(links[300]?.values.tags, ['a', 'b'])
  })

  test('reads domains, rule sets and templates', () => {
    const file = parse(`${HEAD}
domains:
  - domain: go.example.com
    expired_url: https://example.com
    utm: {utm_source: short}
    rule_set: Shops
rule_sets:
  - name: Shops
    rules:
      - {id: de, when: {country: [de]}, then: {url: https://example.com/de}}
      - {then: {url: https://example.com}}
utm_templates:
  - {name: Newsletter, utm_source: mail}
`)
    const [domain] = file.domains
    assert.deepEqual(
      [domain?.ruleSet, domain?.values.expired_url],
      ['Shops', 'https://example.com/'],
    )
    assert.equal(Object(domain?.values.utm).utm_source, 'short')
    assert.deepEqual(file.ruleSets[0]?.rules, [
      { id: 'de', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } },
      { when: {}, then: { url: 'https://example.com/' } },
    ])
    assert.equal(file.templates[0]?.values.utm_source, 'mail')
  })

  test('takes lists without entries, the password from a variable, and the path of a key with placeholders', () => {
    const { links, domains } = parse(`${HEAD}domains:
links:
  - link: a.example.com/p/{id}
    url: https://b.example/
    password: {env: SALE_PASSWORD}
    rules: [{then: {url: 'myapp://open'}}]
`)
    assert.deepEqual([domains, links[0]?.values.path], [[], 'capture'])
    assert.equal(links[0]?.passwordFrom, 'SALE_PASSWORD')
  })

  const links = (text: string) => `${HEAD}links:\n${text}`
  const cases: [string, string, RegExp[]][] = [
    ['no YAML', 'version: 1\nset: [', [/^links\.yaml:2:\d+ .*sequence/]],
    [
      'an unknown tag of YAML',
      `${HEAD}links: !include x`,
      [/^links\.yaml:3:8 Unresolved tag: !include/],
    ],
    ['a name twice in a mapping', `${HEAD}set: b`, [/^links\.yaml:3:1 .*unique/]],
    ['another version', 'version: 2\nset: a', [/^links\.yaml:1:1 version: must be one of 1$/]],
    ['no set', 'version: 1', [/^links\.yaml:1:1 set: is required|set: must be/]],
    [
      'a bad name of the set',
      'version: 1\nset: Flyers!',
      [/^links\.yaml:2:1 set: must be 1 to 63/],
    ],
    ['an unknown list', `${HEAD}linkz: []`, [/^links\.yaml:3:1 linkz: /]],
    [
      'a destination that is none',
      links('  - link: a.example.com/x\n    url: example.com\n'),
      [/^links\.yaml:5:5 links\[0\]\.url: must be an absolute URL /],
    ],
    [
      'an unknown field',
      links('  - link: a.example.com/x\n    url: https://b.example/\n    ulr: x\n'),
      [/^links\.yaml:6:5 links\[0\]\.ulr: /],
    ],
    [
      'a key that is a number',
      links('  - {domain: a.example.com, key: 2026, url: https://b.example/}'),
      [/^links\.yaml:4:\d+ links\[0\]\.key: .*: write it in quotes, as "2026"$/],
    ],
    ['no address', links('  - url: https://b.example/\n'), [/links\[0\]\.link: /]],
    ['no key', links('  - {domain: a.example.com, url: https://b.example/}'), [/\.key: /]],
    [
      'no path',
      links('  - {link: a.example.com, url: https://b.example/}'),
      [/links\[0\]\.link: must /],
    ],
    [
      'an address given twice over',
      links('  - {link: a.example.com/x, key: x, url: https://b.example/}'),
      [/links\[0\]\.key: must not be sent together with link/],
    ],
    [
      'a link that stands in the file twice',
      links(
        '  - {link: a.example.com/x, url: https://b.example/}\n  - {link: A.example.com/x, url: https://b.example/}',
      ),
      [/^links\.yaml:5:5 links\[1\]: a\.example\.com\/x stands in the file twice$/],
    ],
    [
      'a fault of a rule',
      links(
        '  - link: a.example.com/x\n    url: https://b.example/\n    rules:\n      - then: {url: nowhere}\n',
      ),
      [/^links\.yaml:7:16 links\[0\]\.rules\[0\]\.then\.url: must be an absolute URL /],
    ],
    [
      'a password in the file',
      links('  - {link: a.example.com/x, url: https://b.example/, password: secret}'),
      [/links\[0\]\.password: must be an object/],
    ],
    [
      'a tag that is not listed',
      `${HEAD}tags: [spring]\nlinks:\n  - link: a.example.com/x\n    url: https://b.example/\n    tags: [spring, sprnig]\n`,
      [/^links\.yaml:7:20 links\[0\]\.tags\[1\]: the tag sprnig is not in the list of tags$/],
    ],
    [
      'a mark in the file',
      links('  - {link: a.example.com/x, url: https://b.example/, managed_by: other}'),
      [/managed_by: /],
    ],
    [
      'several faults, in the order of the file',
      `${HEAD}links:\n  - link: a.example.com/x\n    url: ftp://b\n    max_clicks: 0\ndomains:\n  - domain: co.uk\n`,
      [/:5:5 links\[0\]\.url/, /:6:5 links\[0\]\.max_clicks/, /:8:5 domains\[0\]\.domain/],
    ],
    [
      'rule sets whose names differ by letter case',
      `${HEAD}rule_sets: [{name: Shops, rules: []}, {name: shops, rules: []}]`,
      [/rule_sets\[1\]: shops stands in the file twice/],
    ],
  ]
  for (const [what, text, expected] of cases) {
    test(`refuses ${what}, with its line and column`, () => {
      const faults = faultsOf(text)
      assert.equal(faults.length, expected.length, faults.join('\n'))
      for (const [index, pattern] of expected.entries()) assert.match(faults[index] ?? '', pattern)
    })
  }

  test('finds the places of faults in JSON', () => {
    const text =
      '{\n  "version": 1, "set": "a",\n  "links": [\n    {"link": "a.example.com/x",\n     "url": "x"}]}'
    const [fault = ''] = faultsOf(text, 'links.json')
    assert.match(fault, /^links\.json:5:6 links\[0\]\.url: must be an absolute URL /)
    assert.match(faultsOf('{"version": 1,', 'links.json')[0] ?? '', /^links\.json:1:\d+ /)
  })

  test('refuses aliases that grow without bound, and cleans what controls a terminal', () => {
    const levels = Array.from({ length: 9 }, (_, nth) => {
      const uses = Array(10).fill(`*a${nth}`).join(',')
      return `a${nth + 1}: &a${nth + 1} [${uses}]`
    })
    const bomb = `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${levels.join('\n')}`
    assert.match(faultsOf(bomb)[0] ?? '', /alias/i)
    const [fault = ''] = faultsOf(`${HEAD}"\\e[31mred": 1`)
    assert.doesNotMatch(fault, /\p{Cc}/u)
  })
})
