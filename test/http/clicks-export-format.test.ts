import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { originalText } from '@terse/contract/csv'
import fc from 'fast-check'
import { cappedClick } from '../../src/clicks/click.ts'
import { exportStream } from '../../src/clicks/click-export.ts'
import type { RawClick } from '../../src/clicks/report/day-of-clicks.ts'
import { anyCharacter, cases } from '../support/properties.ts'
import { CLICK } from './export-server.ts'
import { parseCsv } from './parse-csv.ts'

const COLUMNS =
  'at,link_id,domain,key,country,device,os,browser,referrer,language,source,visitor,flags,count,rule,variant,label,region,city,id'

async function exported(clicks: readonly RawClick[], format: 'csv' | 'ndjson'): Promise<string> {
  const batches = async function* () {
    yield clicks
  }
  const watch = { onBatch: () => {}, onError: assert.ifError }
  return text(await exportStream(batches(), format, watch))
}

/** The cells of one click, by column name. */
async function cellsOf(click: RawClick): Promise<Record<string, string | undefined>> {
  const [header = [], cells = [], ...more] = parseCsv(await exported([click], 'csv'))
  assert.equal(header.join(','), COLUMNS)
  assert.equal(cells.length, header.length)
  assert.deepEqual(more, [])
  return Object.fromEntries(header.map((name, nth) => [name, cells[nth]]))
}

describe('exportStream', () => {
  test('writes CSV with a header line, a line for each click, and empty cells for unknown values', async () => {
    assert.equal(
      await exported(
        [
          { ...CLICK, flags: 1 + 4, rule: 'phones', variant: 'B', label: 'newsletter' },
          { ...CLICK, link_id: null, key: null, host: null },
        ],
        'csv',
      ),
      [
        COLUMNS,
        '2026-11-20T10:06:50.123456Z,01a1f86c-0000-7000-8000-000000000000,localhost,spring,DE,,,,,,direct,v00000000abcdef,bot head,1,phones,B,newsletter,,,hoc1clt8e8-ssb6tg',
        '2026-11-20T10:06:50.123456Z,,,,DE,,,,,,direct,v00000000abcdef,,1,,,,,,hoc1clt8e8-ssb6tg',
      ]
        .map((line) => `"${line.replaceAll(',', '","')}"\r\n`)
        .join(''),
    )
  })

  test('writes NDJSON with one object a line, and null for unknown values', async () => {
    const lines = (await exported([CLICK, { ...CLICK, flags: 2 + 8 }], 'ndjson')).split('\n')
    assert.equal(lines.length, 3)
    assert.deepEqual(JSON.parse(lines[1] ?? ''), {
      at: '2026-11-20T10:06:50.123456Z',
      link_id: '01a1f86c-0000-7000-8000-000000000000',
      domain: 'localhost',
      key: 'spring',
      country: 'DE',
      device: null,
      os: null,
      browser: null,
      referrer: null,
      language: null,
      source: 'direct',
      visitor: 'v00000000abcdef',
      flags: ['prefetch', 'no_user_agent'],
      count: 1,
      rule: null,
      variant: null,
      label: null,
      region: null,
      city: null,
      id: 'hoc1clt8e8-ssb6tg',
    })
  })

  test('writes a count and no visitor for capped clicks', async () => {
    const click = { ...CLICK, ...cappedClick(1, CLICK.at, 19_700) }
    const { at, count, visitor, flags, source } = await cellsOf(click)
    assert.deepEqual(
      { at, count, visitor, flags, source },
      {
        at: '2026-11-20T10:06:50.123456Z',
        count: '19700',
        visitor: '',
        flags: 'capped',
        source: '',
      },
    )
    const [line = ''] = (await exported([click], 'ndjson')).split('\n')
    assert.partialDeepStrictEqual(JSON.parse(line), {
      count: 19_700,
      visitor: null,
      flags: ['capped'],
      source: null,
    })
  })

  for (const text of ['=1+1', '+1', '-2', '@SUM(A1)', '＝1', '=HYPERLINK("http://x","y")']) {
    test(`prefixes CSV cells that a spreadsheet would run: ${JSON.stringify(text)}`, async () => {
      const { key, referrer } = await cellsOf({ ...CLICK, key: text, referrer: text })
      assert.deepEqual([key, referrer], [`'${text}`, `'${text}`])
    })
  }

  test('writes CSV that can be parsed back, for any values', async () => {
    const unit = fc.constantFrom(...'abc,"\r\n\';=+-@ ä𝒳')
    const value = fc.string({ unit, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(value, value, value, async (key, referrer, browser) => {
        const cells = await cellsOf({ ...CLICK, key, referrer, browser })
        for (const [cell, sent] of [
          [cells.key, key],
          [cells.referrer, referrer],
          [cells.browser, browser],
        ]) {
          assert.equal(originalText(cell ?? ''), sent)
          assert.doesNotMatch(cell ?? '', /^[=+\-@\t\r]/)
        }
      }),
      cases(500),
    )
  })

  test('writes NDJSON that can be parsed back, for any values', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: anyCharacter })), async (keys) => {
        const clicks = keys.map((key) => ({ ...CLICK, key }))
        const lines = (await exported(clicks, 'ndjson')).split('\n')
        assert.equal(lines.pop(), '')
        assert.deepEqual(
          lines.map((line) => JSON.parse(line).key),
          keys,
        )
      }),
      cases(200),
    )
  })
})
