import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { InstanceResource } from '../api/instance.ts'
import { en } from '../text/en.ts'
import { formatsOf } from '../text/formats.ts'
import { instanceProblems } from './instance-problems.ts'

const NODE: InstanceResource['nodes'][number] = {
  id: 'a',
  name: 'alpha',
  process: 1,
  version: '1.0.0',
  state: 'up',
  started_at: '2026-11-20T12:00:00.000000Z',
  heard_at: '2026-11-20T12:00:00.000000Z',
  backlog_bytes: 0,
  oldest_click_at: null,
  untrusted_proxy: null,
}

const WELL: InstanceResource = {
  version: '1.0.0',
  node_version: 'v26.0.0',
  base_url: 'https://go.example.com',
  database: 'SQLite 3',
  roles: { redirect: 'ok', api: 'ok', jobs: 'ok' },
  lost_clicks: 12,
  doubtful_clicks: 0,
  damaged_files: [],
  data_folder_fault: null,
  journal_fault: null,
  clicks_fault: null,
  is_disk_low: false,
  counted_until: null,
  nodes: [NODE],
  certificates: { valid: 3, expiring: 0, expired: 0, failing: 0 },
}

const CASES: readonly (readonly [string, Partial<InstanceResource>, RegExp])[] = [
  ['a role cannot be played', { roles: { redirect: 'ok', api: 'unavailable' } }, /node: API\.$/],
  ['a node is lost', { nodes: [NODE, { ...NODE, name: 'beta', state: 'lost' }] }, /: beta\.$/],
  ['the data folder cannot be written', { data_folder_fault: '/data is full' }, /is full$/],
  ['the database of clicks is down', { clicks_fault: 'It does not answer' }, /not answer$/],
  ['the journal cannot be written', { journal_fault: '/journal is full' }, /is full$/],
  ['the disk is almost full', { is_disk_low: true }, /almost full/],
  ['a file is damaged', { damaged_files: ['terse.db'] }, /terse\.db/],
  ['counting is behind', { counted_until: '2026-11-20T12:00:00.000000Z' }, /counted until/],
  [
    'a certificate has expired',
    { certificates: { valid: 2, expiring: 0, expired: 1, failing: 0 } },
    /expired: 1/,
  ],
  [
    'a certificate ends soon',
    { certificates: { valid: 2, expiring: 1, expired: 0, failing: 0 } },
    /seven days: 1/,
  ],
  [
    'a certificate cannot be ordered',
    { certificates: { valid: 2, expiring: 0, expired: 0, failing: 1 } },
    /ordered: 1/,
  ],
  ['a proxy is not trusted', { nodes: [{ ...NODE, untrusted_proxy: '10.0.0.1' }] }, /10\.0\.0\.1/],
]

describe('the problems of an instance', () => {
  const problemsOf = (changes: Partial<InstanceResource>) =>
    instanceProblems({ ...WELL, ...changes }, en, formatsOf('en-GB'))

  test('are empty while all is well, also behind a proxy and with clicks lost earlier', () => {
    assert.deepEqual(problemsOf({}), [])
    assert.deepEqual(problemsOf({ certificates: null }), [])
  })

  for (const [name, changes, expected] of CASES) {
    test(`are one sentence when ${name}`, () => {
      const problems = problemsOf(changes)
      assert.equal(problems.length, 1)
      assert.match(problems[0] ?? '', expected)
    })
  }
})
