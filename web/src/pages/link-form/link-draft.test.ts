import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LinkResource } from '../../api/links.ts'
import { copyOf, draftOf, emptyDraft, faultsOf, fieldsOf } from './link-draft.ts'

const LINK: LinkResource = {
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

  test('asks for the password of a copy of a protected link, unless it is to have none', () => {
    const copy = copyOf(LINK)
    assert.deepEqual(faultsOf(copy), { password: 'passwordOfCopy' })
    assert.deepEqual(faultsOf({ ...copy, password: 'a good secret' }), {})
    assert.deepEqual(faultsOf({ ...copy, asksPassword: false }), {})
    assert.deepEqual(faultsOf(copyOf({ ...LINK, password: null })), {})
  })
})
