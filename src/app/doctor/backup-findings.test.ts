import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../platform/time/clock.ts'
import { type BackupRecords, writeBackupRecords } from '../backup/backup-records.ts'
import { ageFinding, backupFindings } from './backup-findings.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.UTC(2026, 10, 22)
const PLACE = '/mnt/backup'

function madeAgo(hours: number, target = PLACE) {
  return { target, name: 'backup', consistentAtMs: NOW_MS - hours * HOUR_MS }
}

function recordsOf(last: number, verified?: number, target = PLACE): BackupRecords {
  return {
    dataFolder: 'a',
    last: madeAgo(last, target),
    ...(verified !== undefined && { verified: madeAgo(verified, target) }),
  }
}

describe('what the doctor reports of backups', () => {
  const every6h = { target: PLACE, everyMs: 6 * HOUR_MS, verifies: true }
  const unverified = { ...every6h, verifies: false }
  const byHand = { ...every6h, target: undefined }
  for (const [name, settings, records, state, text] of [
    ['none made, none configured', byHand, undefined, 'warning', /^none was made$/],
    ['none made yet', every6h, undefined, 'warning', /none was made in \/mnt\/backup yet/],
    ['one made elsewhere', every6h, recordsOf(1, 1, '/old'), 'warning', /none was made in/],
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

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-backup-findings-'))
    place = path.join(folder, 'backups')
  })
  after(() => rmSync(folder, { recursive: true }))

  async function problems(target: string, s3?: Parameters<typeof backupFindings>[0]['s3']) {
    const backup = { target, everyMs: 6 * HOUR_MS, verifies: false }
    const findings = await backupFindings({ dataDir: folder, s3, backup }, systemClock())
    return findings.filter(({ state }) => state === 'problem').map(({ text }) => text)
  }

  test('nothing, when it is empty and can be written', async () => {
    assert.deepEqual(await problems(place), [])
  })

  test('that the backups made there are gone, such as with a disk that is not mounted', async () => {
    const last = { target: place, name: 'backup', consistentAtMs: Date.now() }
    writeBackupRecords(folder, { dataFolder: 'a', last })
    assert.deepEqual(await problems(place), [`the backups in ${place} are gone`])
  })

  test('that another data folder uses it', async () => {
    mkdirSync(place)
    writeFileSync(path.join(place, 'owner.json'), '{"dataFolder":"b"}')
    assert.deepEqual(await problems(place), [`${place} has the backups of another data folder`])
    writeFileSync(path.join(place, 'owner.json'), '{"dataFolder":"a"}')
    assert.deepEqual(await problems(place), [])
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
