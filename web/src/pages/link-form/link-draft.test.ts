import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_OPTIONS } from '@terse/contract/link-fields'
import type { DetailedLink } from '../../api/links.ts'
import { copyOf, draftOf, emptyDraft, faultsOf, fieldsOf } from './link-draft.ts'

const OPTIONS = { ...NO_OPTIONS, clicks_left: null, managed_at: null }

const LINK: DetailedLink = {
  id: '01890000-0000-7000-8000-000000000000',
  workspace_id: '01890000-0000-7000-8000-000000000001',
  domain: 'go.acme.test',
  key: 'sale',
  url: 'https://acme.test/',
  link: 'https://go.acme.test/sale',
  ios: null,
  android: null,
  utm_source: 'newsletter',
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  utm_name: null,
  clicks: 3,
  last_click: null,
  external_id: 7,
  password: 'sealed',
  expires_at: '2026-12-31T22:59:00.000000Z',
  expired_redirect_url: null,
  tags: ['a', 'b'],
  created_at: '2026-11-22T10:00:00.000000Z',
  updated_at: '2026-11-22T10:00:00.000000Z',
  options: OPTIONS,
  rule_count: 0,
  split_count: 0,
}

describe('fieldsOf', () => {
  test('sends only what was filled in for a new link', () => {
    const draft = { ...emptyDraft('go.acme.test'), url: 'acme.test/x', utm_source: ' mail ' }
    assert.deepEqual(fieldsOf(draft, undefined), {
      domain: 'go.acme.test',
      url: 'https://acme.test/x',
      utm_source: 'mail',
    })
  })

  test('sends nothing for a link that was not changed', () => {
    assert.deepEqual(fieldsOf(draftOf(LINK), LINK), {})
  })

  test('sends the options that were changed alone, and restores what a new link has by null', () => {
    const options = { ...OPTIONS, max_clicks: 500, notes: 'Keep', query: 'drop' } as const
    const limited = { ...LINK, options }
    const draft = draftOf(limited)
    assert.deepEqual(fieldsOf(draft, limited), {})
    assert.deepEqual(fieldsOf({ ...draft, max_clicks: ' 600 ', path: 'append' }, limited), {
      max_clicks: 600,
      path: 'append',
    })
    const starts = '2026-12-01T08:00'
    assert.deepEqual(fieldsOf({ ...draft, max_clicks: '', notes: ' ', starts }, limited), {
      max_clicks: null,
      notes: null,
      active_from: new Date(starts).toISOString(),
    })
  })

  test('copies the options of a link except its note', () => {
    const options = { ...OPTIONS, max_clicks: 500, notes: 'Keep' }
    const { max_clicks, notes } = copyOf({ ...LINK, options })
    assert.deepEqual([max_clicks, notes], ['500', ''])
  })

  test('clears by null, and keeps the password unless it is replaced or removed', () => {
    const draft = draftOf(LINK)
    const cleared = { ...draft, utm_source: '', expires: '', external_id: '', tags: [] }
    assert.deepEqual(fieldsOf(cleared, LINK), {
      utm_source: null,
      expires_at: null,
      external_id: null,
      tags: [],
    })
    assert.deepEqual(fieldsOf({ ...draft, password: 'new' }, LINK), { password: 'new' })
    assert.deepEqual(fieldsOf({ ...draft, removesPassword: true }, LINK), { password: null })
  })
})

describe('faultsOf', () => {
  const draft = draftOf(LINK)

  test('has nothing against a link as it was loaded, nor against whole numbers', () => {
    for (const external_id of ['7', ' 17 ', '-3', '9007199254740991', '']) {
      assert.deepEqual(faultsOf({ ...draft, external_id }), {}, external_id)
    }
  })

  for (const external_id of ['order-17', '1.5', '1e3', '9007199254740992', '0x10']) {
    test(`refuses the external ID ${external_id}, which would otherwise be sent as null`, () => {
      const wrong = { ...draft, external_id }
      assert.deepEqual(faultsOf(wrong), { external_id: 'invalidExternalId' })
      assert.deepEqual(fieldsOf(wrong, LINK), { external_id })
    })
  }

  for (const max_clicks of ['0', '-1', '1.5', '1e3', '1000000001', 'many']) {
    test(`refuses ${max_clicks} as a limit of clicks`, () => {
      assert.deepEqual(faultsOf({ ...draft, max_clicks }), { max_clicks: 'invalidMaxClicks' })
    })
  }

  test('refuses a start that is not before the expiry', () => {
    const expires = '2026-12-01T08:00'
    assert.deepEqual(faultsOf({ ...draft, expires, starts: expires }), {
      active_from: 'endsFirst',
    })
    assert.deepEqual(faultsOf({ ...draft, expires, starts: '2026-12-01T07:59' }), {})
  })

  test('asks for the password of a copy of a protected link, unless it is to have none', () => {
    const copy = copyOf(LINK)
    assert.deepEqual(faultsOf(copy), { password: 'passwordOfCopy' })
    assert.deepEqual(faultsOf({ ...copy, password: 'a good secret' }), {})
    assert.deepEqual(faultsOf({ ...copy, asksPassword: false }), {})
    assert.deepEqual(faultsOf(copyOf({ ...LINK, password: null })), {})
  })
})
