import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../platform/time/clock.ts'
import { ageFinding, backupFindings } from './backup-findings.ts'
import { type BackupRecords, withPlace, writeBackupRecords } from './records.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.UTC(2026, 10, 22)
const PLACE = '/mnt/backup'
const UNVERIFIED = {
  target: undefined,
  everyMs: 6 * HOUR_MS,
  retention: undefined,
  verifies: false,
  recipients: [],
  identityFile: undefined,
  signingKeyFile: undefined,
}
const NAME = '2026-11-21T23-00-00-000Z-00000000'

function madeAgo(hours: number) {
  return { name: NAME, consistentAtMs: NOW_MS - hours * HOUR_MS }
}

function recordsOf(last: number, verified?: number, place = PLACE): BackupRecords {
  const ofPlace = {
    last: madeAgo(last),
    ...(verified !== undefined && { verified: madeAgo(verified) }),
  }
  return withPlace({ dataFolder: 'a' }, place, ofPlace)
}

describe('what the doctor reports of backups', () => {
  const every6h = { target: PLACE, everyMs: 6 * HOUR_MS, verifies: true }
  const unverified = { ...every6h, verifies: false }
  const byHand = { ...every6h, target: undefined }
  const elsewhere = (hours: number) =>
    withPlace(recordsOf(hours, hours), '/other', { last: madeAgo(0), verified: madeAgo(0) })
  for (const [name, settings, records, state, text] of [
    ['none made, none configured', byHand, undefined, 'warning', /^none was made$/],
    ['none made yet', every6h, undefined, 'warning', /none was made in \/mnt\/backup yet/],
    ['one made elsewhere', every6h, recordsOf(1, 1, '/old'), 'warning', /none was made in/],
    [
      'an older one than elsewhere',
      every6h,
      elsewhere(13),
      'problem',
      /made 2026-11-21T11.*backup$/,
    ],
    [
      'a recent one, and elsewhere',
      every6h,
      elsewhere(1),
      'ok',
      /made 2026-11-21T23.*\/mnt\/backup/,
    ],
    ['a recent one', every6h, recordsOf(1, 1), 'ok', /made 2026-11-21T23.* verified one/],
    ['one that is late', every6h, recordsOf(13, 13), 'problem', /made 2026-11-21T11/],
    ['a recent one, verified too long ago', every6h, recordsOf(1, 13), 'problem', /verified one/],
    ['none verified', every6h, recordsOf(1), 'problem', /none was verified/],
    ['none verified, and none to be', unverified, recordsOf(1), 'ok', /made/],
    ['a recent one by hand', byHand, recordsOf(47, 47), 'ok', /made/],
    ['an old one by hand', byHand, recordsOf(49, 49), 'warning', /made/],
  ] as const) {
    test(`${name}: ${state}`, () => {
      const finding = ageFinding(settings, records, NOW_MS)
      assert.equal(finding.state, state)
      assert.match(finding.text, text)
      assert.equal(finding.advice === undefined, state === 'ok')
    })
  }
})

describe('what the doctor reports of the place of backups', () => {
  let folder: string
  let place: string
  let dataDir: string

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-backup-findings-'))
    place = path.join(folder, 'backups')
    dataDir = path.join(folder, 'data')
    mkdirSync(dataDir)
  })
  after(() => rmSync(folder, { recursive: true }))

  async function problems(
    target: string,
    s3?: Parameters<typeof backupFindings>[0]['s3'],
    settings: Partial<Parameters<typeof backupFindings>[0]['backup']> = {},
  ) {
    const backup = { ...UNVERIFIED, target, ...settings }
    const findings = await backupFindings({ dataDir, s3, backup }, systemClock())
    return findings.filter(({ state }) => state === 'problem').map(({ text }) => text)
  }

  test('nothing, when it is empty and can be written', async () => {
    assert.deepEqual(await problems(place), [])
  })

  test('that the backups made there are gone, such as with a disk that is not mounted', async () => {
    const last = { name: NAME, consistentAtMs: Date.now() }
    writeBackupRecords(dataDir, withPlace({ dataFolder: 'a' }, place, { last }))
    assert.deepEqual(await problems(place), [`the backups in ${place} are gone`])
  })

  test('that another data folder uses it', async () => {
    mkdirSync(place)
    writeFileSync(path.join(place, 'owner.json'), '{"dataFolder":"b"}')
    assert.match(String(await problems(place)), /has the backups of another data folder/)
  })

  test('that the last backup is no longer there', async () => {
    writeFileSync(path.join(place, 'owner.json'), '{"dataFolder":"a"}')
    assert.deepEqual(await problems(place), [`the last backup, ${NAME}, is no longer in ${place}`])
    mkdirSync(path.join(place, 'backups'))
    writeFileSync(path.join(place, 'backups', `${NAME}.json`), '')
    assert.deepEqual(await problems(place), [])
  })

  test('that it is in the data folder', async () => {
    assert.match(String(await problems(path.join(dataDir, 'backups'))), /is in the data folder/)
  })

  test('that a recipient is mistyped', async () => {
    const recipients = [`age1${'q'.repeat(58)}`]
    assert.match(String(await problems(place, undefined, { recipients })), /not a recipient of age/)
  })

  test('that stored blocks are damaged', async () => {
    mkdirSync(path.join(place, 'damaged'))
    writeFileSync(path.join(place, 'damaged', 'a'.repeat(64)), '')
    const backup = { ...UNVERIFIED, target: place, verifies: true }
    const findings = await backupFindings({ dataDir, s3: undefined, backup }, systemClock())
    assert.match(JSON.stringify(findings), /1 stored blocks in .*are damaged.*restore .* --list/)
  })

  test('that it is not a folder', async () => {
    const [text = ''] = await problems(path.join(place, 'owner.json'))
    assert.match(text, /cannot be used: ENOTDIR/)
  })

  const isRoot = process.getuid?.() === 0
  test('that it cannot be written', { skip: isRoot && 'root may write anywhere' }, async () => {
    chmodSync(place, 0o500)
    const [text = ''] = await problems(place)
    assert.match(text, /cannot be used: EACCES/)
  })

  test('that a bucket cannot be reached', async () => {
    const access = { region: 'any', accessKeyId: 'a', secretAccessKey: 'b' }
    const s3 = { ...access, endpoint: 'http://127.0.0.1:9' }
    const [text = ''] = await problems('s3://bucket/terse', s3)
    assert.match(text, /cannot be used: .* cannot be reached at http:\/\/127\.0\.0\.1:9/)
  })
})
