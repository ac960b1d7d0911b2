import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { ZipFile } from 'yazl'
import type { ImportRecord } from '../import-source.ts'
import { readTerseZip } from './terse.ts'

const HEAD = JSON.stringify({
  type: 'export',
  version: 1,
  terse: '0.1.0',
  instance: 'https://go.example',
  service_host: 'go.example',
  workspace: 'acme',
  clicks: true,
  exported_at: '2026-11-22T10:00:00.000000Z',
})
const ID = '01a1f86c-0000-7000-8000-000000000000'
const AT = '2026-01-02T03:04:05.678901Z'
const UTM = 'utm_source,utm_medium,utm_campaign,utm_term,utm_content,utm_name'
const LINKS = `id,domain,key,url,ios,android,${UTM},clicks,last_click,external_id,protected,expires_at,imported,expired_redirect_url,tags,created_at,updated_at\r
${ID},go.example,'-k,https://example.com/,,,'=1,,,,,,3,1795169210,7,true,,"{""title"":""K""}",,"[""a,b""]",${AT},${AT}\r
${ID},a.example,other,https://example.com/,,,,,,,,,0,,,FALSE,,,,,${AT},${AT}\r
${ID},a.example,broken,https://example.com/,,,,,,,,,many,,,false,,,,[],${AT},${AT}\r
`
const CLICKS = `at,link_id,domain,key,country,device,os,browser,referrer,language,source,visitor,flags,count\r
${AT},${ID},go.example,k,DE,mobile,,,,,qr,v00000000abcdef,"[""bot""]",1\r
`
const NDJSON = `${HEAD}\n${JSON.stringify({ type: 'end', records: 0 })}\n`
const WHOLE = { 'export.json': HEAD, 'clicks.csv': CLICKS, 'links.csv': LINKS }

const folder = mkdtempSync(path.join(tmpdir(), 'terse-zip-'))
after(() => rmSync(folder, { recursive: true }))
const file = path.join(folder, 'export.zip')

async function pack(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, text] of Object.entries(files)) {
    if (name.endsWith('/')) zip.addEmptyDirectory(name)
    else zip.addBuffer(Buffer.from(text), name)
  }
  zip.end()
  return buffer(zip.outputStream)
}

async function read(
  bytes: Uint8Array,
  options: { resume?: string; unpackedBytesMax?: number; signal?: AbortSignal } = {},
): Promise<ImportRecord[]> {
  writeFileSync(file, bytes)
  const signal = AbortSignal.timeout(60_000)
  return Array.fromAsync(readTerseZip(file, { resume: undefined, signal, ...options }))
}

describe('readTerseZip', () => {
  test('reads the files of an export in their order', async () => {
    const [link, other, broken, click, ...more] = await read(await pack(WHOLE))
    assert.deepEqual(more, [])
    assert.ok(link?.kind === 'link' && other?.kind === 'link' && click?.kind === 'click')
    assert.deepEqual(
      [link.ref, link.domain, link.key, link.utm_source, link.clicks, link.external_id, link.tags],
      [ID, null, '-k', '=1', 3, 7, ['a,b']],
    )
    assert.deepEqual([link.rest, link.protection.kind], [{ title: 'K' }, 'unknown password'])
    assert.deepEqual([other.tags, other.protection.kind, other.ios], [[], 'none', null])
    assert.ok(broken?.kind === 'refused')
    assert.match(broken.reason, /clicks is missing or wrong/)
    assert.equal(broken.place, 'links.csv, line 4')
    assert.deepEqual([click.stored?.source, click.is_bot], ['qr', true])
  })

  test('goes on after any record', async () => {
    const zip = await pack(WHOLE)
    const whole = await read(zip)
    for (const [nth, { resume }] of whole.entries()) {
      assert.deepEqual(await read(zip, { resume }), whole.slice(nth + 1), `after record ${nth}`)
    }
  })

  test('reads what a file manager or a spreadsheet has made of it', async () => {
    const mark = '\u{feff}'
    const packed = await pack({
      'acme/': '',
      'acme/.DS_Store': 'x',
      'acme/Notes.txt': 'mine',
      'acme/export.json': HEAD,
      'acme/Links.csv': mark + LINKS.replaceAll('\r', ''),
      '__MACOSX/acme/._Links.csv': 'x',
      '__MACOSX/acme/links.csv': 'x',
    })
    assert.equal((await read(packed)).length, 3)
    assert.deepEqual(await read(await pack({ 'acme.ndjson': NDJSON, 'readme.txt': '' })), [])
  })

  const REFUSED: readonly {
    readonly name: string
    readonly files: Readonly<Record<string, string>>
    readonly expected: RegExp
  }[] = [
    { name: 'another zip', files: { 'photo.jpg': 'x' }, expected: /is no export of Terse/ },
    { name: 'no description', files: { 'links.csv': LINKS }, expected: /is no export of Terse/ },
    {
      name: 'a description that is none',
      files: { ...WHOLE, 'export.json': '[' },
      expected: /export\.json does not describe one/,
    },
    {
      name: 'a newer format',
      files: { ...WHOLE, 'export.json': HEAD.replace('"version":1', '"version":2') },
      expected: /version 2/,
    },
    { name: 'no links', files: { 'export.json': HEAD }, expected: /has no links\.csv/ },
    {
      name: 'two exports',
      files: { 'a/links.csv': LINKS, 'b/links.csv': LINKS, 'export.json': HEAD },
      expected: /several files links\.csv/,
    },
    {
      name: 'two NDJSON files',
      files: { 'a.ndjson': NDJSON, 'b.ndjson': NDJSON },
      expected: /several exports/,
    },
    {
      name: 'too many files',
      files: Object.fromEntries(Array.from({ length: 1_001 }, (_, nth) => [`${nth}`, ''])),
      expected: /more than 1000 files/,
    },
  ]
  for (const { name, files, expected } of REFUSED) {
    test(`refuses ${name}`, async () =>
      assert.rejects(read(await pack(files)), { name: 'ImportSourceFault', message: expected }))
  }

  test('refuses what is too large unpacked, without reading it, and a row without an end', async () => {
    const bomb = await pack({ ...WHOLE, 'clicks.csv': '0'.repeat(3 * 1024 * 1024) })
    assert.ok(bomb.length < 10_000)
    await assert.rejects(read(bomb, { unpackedBytesMax: 1024 * 1024 }), /when it is unpacked/)
    await assert.rejects(read(bomb), /no header/)
  })

  test('refuses a zip that says less than it holds, is damaged, or is cut off', async () => {
    const zip = await pack(WHOLE)
    const at = zip.indexOf('links.csv', zip.length / 2) - 46
    const small = Buffer.from(zip)
    small.writeUInt32LE(10, at + 24)
    const wrong = Buffer.from(zip)
    wrong.writeUInt32LE(1, at + 16)
    for (const bytes of [small, wrong, zip.subarray(0, -30)]) {
      await assert.rejects(read(bytes), { name: 'ImportSourceFault', message: /zip is damaged/ })
    }
    const locked = Buffer.from(zip)
    locked.writeUInt16LE(1, at + 8)
    await assert.rejects(read(locked), /encrypted/)
  })

  test('stops when it is aborted', async () => {
    const signal = AbortSignal.abort(new Error('cancelled'))
    await assert.rejects(read(await pack(WHOLE), { signal }), /cancelled/)
  })
})
