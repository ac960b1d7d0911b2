import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import type { ImportRecord, LinkRecord } from '../import-source.ts'
import { openTerseExport } from './terse.ts'

const HEAD = {
  type: 'export',
  version: 1,
  terse: '0.1.0',
  instance: 'https://go.example',
  service_host: 'go.example',
  workspace: 'acme',
  clicks: true,
  exported_at: '2026-11-22T10:00:00.000000Z',
}
const UTM = {
  utm_source: 'mail',
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  utm_name: 'n',
}
const TIMES = {
  created_at: '2026-01-02T03:04:05.678901Z',
  updated_at: '2026-02-02T03:04:05.678901Z',
}
const LINK_ID = '01a1f86c-0000-7000-8000-000000000000'
const LINK = {
  ...{ type: 'link', id: LINK_ID, domain: 'go.example', key: 'k', url: 'https://example.com/' },
  ...{ ios: null, android: null, ...UTM, clicks: 3, last_click: 1_795_169_210, external_id: 7 },
  ...{ expires_at: '9999-12-31T23:59:59.999999Z', expired_redirect_url: null, tags: ['a'] },
  ...{ ...TIMES, protected: true, imported: { title: 'K' } },
}
const CLICK = {
  ...{ type: 'click', at: '2026-11-20T10:06:50.123456Z', link_id: LINK_ID, domain: 'go.example' },
  ...{ key: 'k', country: 'DE', device: 'mobile', os: null, browser: null, referrer: null },
  ...{ language: null, source: 'qr', visitor: 'v00000000abcdef', flags: ['bot', 'head'], count: 1 },
}
const DOMAIN = {
  ...{ type: 'domain', id: LINK_ID, domain: 'a.example', status: 'active', not_found_url: null },
  ...{ expired_url: 'https://example.com/', ...TIMES, hsts_max_age: null },
}
const TEMPLATE = { type: 'utm_template', id: LINK_ID, name: 'News', ...UTM, ...TIMES }
const MEMBER = {
  ...{ type: 'member', email: 'ada@example.com', name: 'Ada', role: 'owner' },
  joined_at: TIMES.created_at,
}
const END = { type: 'end', records: 1 }

const folder = mkdtempSync(path.join(tmpdir(), 'terse-export-'))
after(() => rmSync(folder, { recursive: true }))

async function read(text: string, resume?: string): Promise<ImportRecord[]> {
  const file = path.join(folder, 'export.ndjson')
  writeFileSync(file, text)
  const records = openTerseExport({ file }).read({ resume, signal: AbortSignal.timeout(60_000) })
  return Array.fromAsync(records)
}
const textOf = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

describe('openTerseExport', () => {
  test('leaves out the rule set of a link, whose id is of another workspace, and says so', async () => {
    const options = { notes: 'a', rule_set: LINK_ID }
    const [link] = await read(textOf(HEAD, { ...LINK, options }, END))
    const { notes, rest, options: kept } = link as LinkRecord
    assert.deepEqual(kept, { notes: 'a' })
    assert.deepEqual(rest, { title: 'K', rule_set: LINK_ID })
    assert.match(notes.join(), /rule set/)
  })

  test('names the rule set of a link, and yields sets, settings and labels', async () => {
    const rules = [{ id: 'a', when: {}, then: { url: 'https://x.example/' } }]
    const sets = { type: 'rule_set', id: LINK_ID, name: 'Shops', rules, ...TIMES }
    const settings = {
      ...{ type: 'domain_settings', domain: 'a.example', root_url: null, robots: 'index' },
      ...{ utm: UTM, rule_set: LINK_ID, rule_set_name: 'Shops' },
      ...{ apple_app_site_association: null, assetlinks: null },
    }
    const labels = { type: 'labels', parameter: null, labels: ['a'] }
    const using = { ...LINK, options: { rule_set: LINK_ID }, rule_set_name: 'Shops' }
    const records = await read(textOf(HEAD, labels, sets, settings, using, END))
    const [first, second, third, link] = records.map(({ resume, ...record }) => record)
    assert.deepEqual(first, { kind: 'labels', place: 'line 2', parameter: null, labels: ['a'] })
    assert.deepEqual(second, { kind: 'rule set', place: 'line 3', name: 'Shops', rules })
    assert.deepEqual(third, {
      ...{ kind: 'domain settings', place: 'line 4', domain: 'a.example', rule_set_name: 'Shops' },
      settings: {
        ...{ root_url: null, robots: 'index', utm: UTM },
        ...{ apple_app_site_association: null, assetlinks: null },
      },
    })
    const { notes, rest, options, rule_set_name } = link as LinkRecord
    assert.deepEqual([notes, rest, options, rule_set_name], [[], { title: 'K' }, {}, 'Shops'])
  })

  test('yields templates, domains, links and clicks, and refuses members', async () => {
    const [template, domain, member, link, click, ...more] = await read(
      textOf(HEAD, TEMPLATE, DOMAIN, MEMBER, LINK, { type: 'cursor', cursor: 'x' }, CLICK, END),
    )
    assert.deepEqual(more, [])
    assert.ok(template && domain && member && link && click)
    const { resume: _, ...shownTemplate } = template
    assert.deepEqual(shownTemplate, {
      kind: 'utm template',
      place: 'line 2',
      name: 'News',
      ...UTM,
    })
    assert.ok(domain.kind === 'domain' && domain.expired_url === 'https://example.com/')
    assert.ok(member.kind === 'refused' && /invite/.test(member.reason))
    assert.ok(link.kind === 'link' && click.kind === 'click')
    assert.deepEqual(
      [link.ref, link.domain, link.utm_name, link.protection.kind, link.clicks, link.created_at],
      [LINK_ID, null, 'n', 'unknown password', 3, 1_767_323_045_678_901],
    )
    assert.equal(link.clicks_of, 'people')
    assert.deepEqual(link.rest, { title: 'K' })
    assert.equal(link.expires_at, '9999-12-31T23:59:59.999999Z')
    assert.deepEqual(click.stored, {
      ...{ flags: 5, count: 1, visitor: 0xabcdef, device: 'mobile', os: '', browser: '' },
      ...{ language: '', source: 'qr', rule: '', variant: '', label: '' },
      ...{ region: '', city: '' },
    })
  })

  test('leaves the source of a count unknown', async () => {
    const count = { ...CLICK, source: null, visitor: null, flags: [], count: 5 }
    const [, click] = await read(textOf(HEAD, LINK, count, END))
    assert.ok(click?.kind === 'click')
    assert.deepEqual([click.stored?.source, click.stored?.count], ['', 5])
  })

  test('goes on after any record, and reports lines that are no records', async () => {
    const other = { ...LINK, domain: 'a.example', key: 'other' }
    const text = [
      textOf(HEAD, LINK),
      '{"type":"link"}\nnot JSON\n\n',
      `{"type":"link","note":"${'x'.repeat(1024 * 1024)}"}\n`,
      textOf(other, END),
    ].join('')
    const whole = await read(text)
    assert.deepEqual(
      whole.map(({ kind }) => kind),
      ['link', 'refused', 'refused', 'refused', 'refused', 'link'],
    )
    assert.equal((whole.at(-1) as LinkRecord).domain, 'a.example')
    for (const [nth, { resume }] of whole.entries()) {
      assert.deepEqual(await read(text, resume), whole.slice(nth + 1), `after record ${nth}`)
    }
  })

  test('reports a file that was cut off', async () => {
    const text = textOf(HEAD, LINK, LINK)
    for (const cut of [text, text.slice(0, -40)]) {
      const last = (await read(cut)).at(-1)
      assert.ok(last?.kind === 'refused' && /ends before the export does/.test(last.reason))
    }
  })

  for (const { name, text, expected } of [
    { name: 'another file', text: 'a,b\n1,2\n', expected: /is no export of Terse/ },
    { name: 'an export without its beginning', text: textOf(LINK, END), expected: /is no export/ },
    { name: 'a newer format', text: textOf({ ...HEAD, version: 2 }), expected: /version 2/ },
    { name: 'a zip', text: 'PK\x03\x04', expected: /The zip is damaged/ },
    { name: 'an empty file', text: '', expected: /empty/ },
  ]) {
    test(`refuses ${name}`, () =>
      assert.rejects(read(text), { name: 'ImportSourceFault', message: expected }))
  }
})
