import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DnsReportResource, ShownDomain } from '../../api/domains.ts'
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

/** As the list has it. */
function listed(
  status: ShownDomain['status'],
  known: Partial<ShownDomain['dns']> = {},
): Pick<ShownDomain, 'status' | 'dns'> {
  const { unicode_domain, last_check_at, next_check_at, missing_since, pending_from } = report({})
  const times = { last_check_at, next_check_at, missing_since, pending_from }
  return {
    status,
    dns: { unicode_domain, verdict: null, is_active_elsewhere: false, ...times, ...known },
  }
}

describe('standingOf', () => {
  test('is what the last check found until the report is loaded', () => {
    assert.equal(standingOf(listed('active'), undefined), 'active')
    assert.equal(standingOf(listed('pending'), undefined), 'pending')
    const lost = listed('active', { missing_since: '2026-11-20T09:30:00.123456Z' })
    assert.equal(standingOf(lost, undefined), 'missing')
    const held = listed('pending', { is_active_elsewhere: true })
    assert.equal(standingOf(held, undefined), 'elsewhere')
  })

  test('shows that an active domain has lost its proof', () => {
    assert.equal(
      standingOf(listed('active'), report({ status: 'active' }, 'txt_missing')),
      'missing',
    )
    assert.equal(standingOf(listed('active'), report({ status: 'active' })), 'active')
    const unknown = report({ status: 'active', verdict: 'unknown' })
    assert.equal(standingOf(listed('active'), unknown), 'active')
  })

  test('shows that another workspace has a proved domain', () => {
    assert.equal(standingOf(listed('pending'), report({}, 'active_elsewhere')), 'elsewhere')
  })
})
