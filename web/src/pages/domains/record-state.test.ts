import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DnsReportResource } from '../../api/domains.ts'
import { type DifferenceCode, recordStateOf, standingOf } from './record-state.ts'

const TXT = record('ownership', 'TXT', 'terse-verify=1')
const CNAME = record('routing', 'CNAME', 'terse.example')
const ADDRESSES = [record('routing', 'A', '192.0.2.1'), record('routing', 'A', '192.0.2.2')]

type DnsRecord = DnsReportResource['records'][number]

function record(purpose: DnsRecord['purpose'], type: DnsRecord['type'], value: string): DnsRecord {
  return { purpose, type, name: 'go', full_name: 'go.example', value }
}

function report(change: Partial<DnsReportResource>, ...codes: DifferenceCode[]): DnsReportResource {
  return {
    domain: 'go.example',
    unicode_domain: 'go.example',
    status: 'pending',
    proof: 'dns',
    verdict: codes.length > 0 ? 'unproved' : 'proved',
    records: [TXT, CNAME],
    seen: { txt: [], cname: [], a: [], aaaa: [] },
    differences: codes.map((code) => ({ code, text: '' })),
    last_check_at: null,
    next_check_at: null,
    missing_since: null,
    pending_from: null,
    certificate: null,
    ...change,
  }
}

const statesOf = (given: DnsReportResource) => given.records.map((one) => recordStateOf(given, one))

describe('recordStateOf', () => {
  test('follows the differences of the purpose of each record', () => {
    assert.deepEqual(statesOf(report({})), ['found', 'found'])
    assert.deepEqual(statesOf(report({}, 'txt_missing', 'host_elsewhere')), ['missing', 'wrong'])
    assert.deepEqual(statesOf(report({}, 'txt_unknown', 'stray_address')), ['unknown', 'found'])
  })

  test('requires one of several address records', () => {
    const records = ADDRESSES
    assert.deepEqual(statesOf(report({ records }, 'host_missing')), ['missing', 'alternative'])
    const seen = { txt: [], cname: [], a: ['192.0.2.2'], aaaa: [] }
    assert.deepEqual(statesOf(report({ records, seen })), ['alternative', 'found'])
  })
})

describe('standingOf', () => {
  test('is the status until the report is loaded', () => {
    assert.equal(standingOf('active', undefined), 'active')
  })

  test('shows that an active domain has lost its proof', () => {
    assert.equal(standingOf('active', report({ status: 'active' }, 'txt_missing')), 'missing')
    assert.equal(standingOf('active', report({ status: 'active' })), 'active')
    const unknown = report({ status: 'active', verdict: 'unknown' })
    assert.equal(standingOf('active', unknown), 'active')
  })

  test('shows that another workspace has a proved domain', () => {
    assert.equal(standingOf('pending', report({}, 'active_elsewhere')), 'elsewhere')
  })
})
