import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { LINK_DEFAULTS, parseLinkFile } from './link-file.ts'
import { planChanges } from './plan.ts'
import { describeWorkspace, formatFile, selectThings } from './pull.ts'
import type { FoundLink, WorkspaceState } from './workspace-state.ts'

const AT = '2026-12-01T10:00:00.000000Z'
const OWNER = { managed_by: 'flyers', managed_at: AT, updated_at: AT }

const link = (name: string, more: Partial<FoundLink> = {}): FoundLink => ({
  ...{
    id: `id of ${name}`,
    name,
    rules: [],
    ruleSet: null,
    hasPassword: false,
    ...addressOf(name),
    ...OWNER,
  },
  ...more,
  values: { ...LINK_DEFAULTS, url: 'https://example.com/', ...more.values },
})

const STATE: WorkspaceState = {
  domains: [],
  ruleSets: [
    {
      ...{ id: 's1', name: 'Shops', values: {}, ruleSet: null, ...OWNER },
      rules: [{ id: 'set-0123456789abcdef0123', when: {}, then: { url: 'https://example.com/' } }],
    },
  ],
  templates: [],
  links: [
    link('go.example.com/2027', {
      values: { tags: ['yes', '2026'], notes: 'two\nlines', max_clicks: 5, expires_at: AT },
      ruleSet: 's1',
      hasPassword: true,
      rules: [
        { id: '0123456789', when: { country: ['NO'] }, then: { url: 'https://example.com/no' } },
        { id: 'chosen', name: 'Shop', when: {}, then: { url: 'https://example.com/shop' } },
      ],
    }),
    link('a.example.com/b', { managed_by: null }),
    link('a.example.com/c', { managed_by: 'other' }),
  ],
}
const NAMES = new Map([['s1', 'Shops']])

const pulled = (adopt: boolean, domains: readonly string[] = []) =>
  describeWorkspace('flyers', selectThings(STATE, { set: 'flyers', adopt, domains }), NAMES)

function addressOf(name: string) {
  const [domain = '', key = ''] = name.split('/')
  return { domain, key }
}

describe('a pulled file', () => {
  for (const name of ['links.yaml', 'links.json']) {
    test(`is read again as ${name} without a change`, () => {
      const file = parseLinkFile(name, formatFile(pulled(false), name))
      const plan = planChanges(file, STATE, { adopt: false, setPasswords: false })
      assert.deepEqual([plan.changes, plan.problems], [[], []])
    })
  }

  test('has no default values, no made ids of rules, and names a variable for a password', () => {
    const { links, rule_sets } = parse(formatFile(pulled(false), ''))
    assert.deepEqual(links, [
      {
        link: 'go.example.com/2027',
        url: 'https://example.com/',
        expires_at: AT,
        tags: ['yes', '2026'],
        max_clicks: 5,
        notes: 'two\nlines',
        password: { env: 'PASSWORD_GO_EXAMPLE_COM_2027' },
        rule_set: 'Shops',
        rules: [
          { when: { country: ['NO'] }, then: { url: 'https://example.com/no' } },
          { id: 'chosen', name: 'Shop', then: { url: 'https://example.com/shop' } },
        ],
      },
    ])
    assert.deepEqual(rule_sets, [
      { name: 'Shops', rules: [{ then: { url: 'https://example.com/' } }] },
    ])
  })

  test('has, where it adopts, what belongs to no set, in a stable order, and never that of another set', () => {
    const namesOf = (file: object) =>
      (file as { links: { link: string }[] }).links.map((each) => each.link)
    assert.deepEqual(namesOf(pulled(true)), ['a.example.com/b', 'go.example.com/2027'])
    assert.deepEqual(namesOf(pulled(true, ['a.example.com'])), ['a.example.com/b'])
  })
})
