import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Rule } from '@terse/contract/rules'
import { LINK_DEFAULTS, parseLinkFile } from './link-file.ts'
import { type PlanOptions, planChanges, withFoundIds } from './plan.ts'
import { formatPlan, planAsJson } from './print-plan.ts'
import type { FoundLink, WorkspaceState } from './workspace-state.ts'

const EARLIER = '2026-12-01T10:00:00.000000Z'
const LATER = '2026-12-02T10:00:00.000000Z'
const USUAL: PlanOptions = { adopt: false, setPasswords: false }
const NOTHING: WorkspaceState = { domains: [], ruleSets: [], templates: [], links: [] }

const found = (name: string, more: Partial<FoundLink> = {}): FoundLink => ({
  ...{
    id: `id of ${name}`,
    name,
    rules: [],
    ruleSet: null,
    hasPassword: false,
    ...addressOf(name),
  },
  ...{ managed_by: 'flyers', managed_at: EARLIER, updated_at: EARLIER },
  ...more,
  values: { ...LINK_DEFAULTS, url: 'https://example.com/', ...more.values },
})

const file = (text: string) => parseLinkFile('links.yaml', `version: 1\nset: flyers\n${text}`)
const ONE = 'links: [{link: go.example.com/a, url: https://example.com/}]'

function planned(text: string, state: Partial<WorkspaceState>, options: Partial<PlanOptions> = {}) {
  return planChanges(file(text), { ...NOTHING, ...state }, { ...USUAL, ...options })
}

function addressOf(name: string) {
  const [domain = '', key = ''] = name.split('/')
  return { domain, key }
}

describe('planChanges', () => {
  test('creates what is missing, with the values that a new link does not have', () => {
    const { changes } = planned(ONE, {})
    assert.equal(changes.length, 1)
    assert.deepEqual(changes[0]?.fields, [{ field: 'url', from: null, to: 'https://example.com/' }])
    assert.deepEqual([changes[0]?.action, changes[0]?.id], ['create', null])
  })

  test('changes nothing where all is as the file says', () => {
    const plan = planned(ONE, { links: [found('go.example.com/a')] })
    assert.deepEqual([plan.changes, plan.problems, plan.unconfirmed], [[], [], []])
  })

  test('sets back what was changed by hand, also to the value of a new link', () => {
    const values = { url: 'https://elsewhere.example/', notes: 'by hand' }
    const { changes } = planned(ONE, { links: [found('go.example.com/a', { values })] })
    assert.deepEqual(changes[0]?.fields, [
      { field: 'url', from: 'https://elsewhere.example/', to: 'https://example.com/' },
      { field: 'notes', from: 'by hand', to: null },
    ])
  })

  test('moves a link back that was moved by hand', () => {
    const links = [found('go.example.com/a', { domain: 'other.example.com', key: 'b' })]
    assert.deepEqual(planned(ONE, { links }).changes[0]?.fields, [
      { field: 'domain', from: 'other.example.com', to: 'go.example.com' },
      { field: 'key', from: 'b', to: 'a' },
    ])
  })

  test('deletes what its set has made and the file no longer has, and nothing else', () => {
    const { changes } = planned('links: []', {
      links: [
        found('go.example.com/z'),
        found('go.example.com/b'),
        found('go.example.com/c', { managed_by: 'other' }),
        found('go.example.com/d', { managed_by: null }),
      ],
    })
    assert.deepEqual(
      changes.map(({ action, name }) => [action, name]),
      [
        ['delete', 'go.example.com/b'],
        ['delete', 'go.example.com/z'],
      ],
    )
  })

  test('refuses what exists without a mark, unless it adopts; and always that of another set', () => {
    const links = [found('go.example.com/a', { managed_by: null, managed_at: null })]
    const [problem] = planned(ONE, { links }).problems
    assert.match(problem?.text ?? '', /belongs to no set. With --adopt/)
    assert.deepEqual(problem?.place, { line: 3, column: 9 })
    const adopting = planned(ONE, { links }, { adopt: true })
    assert.deepEqual(adopting.problems, [])
    assert.deepEqual(adopting.changes[0]?.fields, [
      { field: 'managed_by', from: null, to: 'flyers' },
    ])
    const foreign = [found('go.example.com/a', { managed_by: 'other' })]
    for (const adopt of [false, true]) {
      const plan = planned(ONE, { links: foreign }, { adopt })
      assert.deepEqual([plan.changes.length, plan.problems.length], [0, 1])
      assert.match(plan.problems[0]?.text ?? '', /belongs to the set other/)
    }
  })

  test('keeps what prevent_delete of the link or of the file keeps, and says so', () => {
    const kept = [found('go.example.com/k', { values: { prevent_delete: true } })]
    const ofLink = planned('links: []', { links: kept })
    assert.deepEqual(ofLink.changes, [])
    assert.match(ofLink.problems[0]?.text ?? '', /^kept: prevent_delete\. .*the link has/)
    const ofFile = planned('prevent_delete: true', { links: [found('go.example.com/k')] })
    assert.match(ofFile.problems[0]?.text ?? '', /^kept: prevent_delete\. .*the file has/)
  })

  test('sets a password once, or each time on request, and removes one that the file does not have', () => {
    const text =
      'links: [{link: go.example.com/a, url: https://example.com/, password: {env: SALE}}]'
    const bare = found('go.example.com/a')
    const locked = { ...bare, hasPassword: true }
    const fieldsOf = (text: string, link: FoundLink, setPasswords = false) =>
      planned(text, { links: [link] }, { setPasswords }).changes.flatMap(({ fields }) => fields)
    assert.deepEqual(fieldsOf(text, bare), [{ field: 'password', from: null, to: 'from SALE' }])
    assert.deepEqual(fieldsOf(text, locked), [])
    assert.deepEqual(fieldsOf(text, locked, true), [
      { field: 'password', from: 'set', to: 'from SALE' },
    ])
    assert.deepEqual(fieldsOf(ONE, locked), [{ field: 'password', from: 'set', to: null }])
  })

  test('names rule sets, and refuses one that is nowhere', () => {
    const text = 'links: [{link: go.example.com/a, url: https://example.com/, rule_set: shops}]'
    const ruleSets = [{ ...found('Shops'), id: 'set-1', managed_by: null }]
    const using = (ruleSet: string | null) => [found('go.example.com/a', { ruleSet })]
    assert.deepEqual(planned(text, { ruleSets, links: using('set-1') }).changes, [])
    assert.deepEqual(planned(text, { ruleSets, links: using(null) }).changes[0]?.fields, [
      { field: 'rule_set', from: null, to: 'shops' },
    ])
    assert.deepEqual(planned(ONE, { ruleSets, links: using('set-1') }).changes[0]?.fields, [
      { field: 'rule_set', from: 'Shops', to: null },
    ])
    const [problem] = planned(text, {}).problems
    assert.match(problem?.text ?? '', /no rule set shops, neither in the file/)
  })

  test('takes a domain without a mark that nothing was set of, as a killed apply leaves it', () => {
    const text = 'domains: [{domain: go.example.com, expired_url: https://example.com/}]'
    const values = { not_found_url: null, expired_url: 'https://example.com/', root_url: null }
    const rest = {
      robots: null,
      track_conversions: null,
      assetlinks: null,
      apple_app_site_association: null,
    }
    const utm = Object.fromEntries(
      ['source', 'medium', 'campaign', 'term', 'content', 'name'].map((name) => [
        `utm_${name}`,
        null,
      ]),
    )
    const half = {
      ...{ id: 'd', name: 'go.example.com', rules: [], ruleSet: null },
      ...{ managed_by: null, managed_at: null, updated_at: EARLIER },
      values: { ...values, ...rest, utm },
    }
    assert.deepEqual(planned(text, { domains: [half] }).changes[0]?.fields, [
      { field: 'managed_by', from: null, to: 'flyers' },
    ])
    for (const set of [{ root_url: 'https://acme.example/' }, { track_conversions: false }]) {
      const used = { ...half, values: { ...half.values, ...set } }
      assert.equal(planned(text, { domains: [used] }).problems.length, 1)
    }
  })

  test('lists links that are as the file says and were written by other means', () => {
    const links = [found('go.example.com/a', { updated_at: LATER })]
    const plan = planned(ONE, { links })
    assert.deepEqual(plan.changes, [])
    assert.deepEqual(plan.unconfirmed, [{ kind: 'link', id: links[0]?.id }])
  })
})

describe('withFoundIds', () => {
  const rule = (id: string, url: string, name?: string): Rule => ({
    ...{ id, when: {}, then: { url } },
    ...(name !== undefined && { name }),
  })
  const bare = (url: string, name?: string) => {
    const { id: _, ...rest } = rule('', url, name)
    return rest
  }
  const idsOf = (rules: Parameters<typeof withFoundIds>[0], old: readonly Rule[]) =>
    withFoundIds(rules, old).map(({ id }) => id)

  test('keeps the id of the same rule, of one of this name, and of the one in its place', () => {
    const old = [rule('1', 'a'), rule('2', 'b', 'Shop'), rule('3', 'c')]
    assert.deepEqual(idsOf([bare('c'), bare('a')], old), ['3', '1'])
    assert.deepEqual(idsOf([bare('new', 'Shop')], old), ['2'])
    assert.deepEqual(idsOf([bare('a'), bare('b', 'Shop'), bare('new')], old), ['1', '2', '3'])
    assert.deepEqual(idsOf([bare('a'), bare('b', 'Shop'), bare('c'), bare('d')], old), [
      ...['1', '2', '3'],
      undefined,
    ])
  })

  test('uses no id twice', () => {
    const old = [rule('1', 'a')]
    assert.deepEqual(idsOf([{ ...bare('x'), id: '1' }, bare('a')], old), ['1', undefined])
  })
})

describe('formatPlan', () => {
  const shown = (text: string, state: Partial<WorkspaceState>) =>
    formatPlan(planned(text, state), { file: 'links.yaml', hasColors: false })

  test('shows changes like a diff, with sums', () => {
    const text = `links:
  - {link: go.example.com/new, url: https://example.com/, tags: [a, b]}
  - {link: go.example.com/a, url: https://example.com/b}
`
    const links = [found('go.example.com/a'), found('go.example.com/old')]
    assert.equal(
      shown(text, { links }),
      `Links
+ go.example.com/new
    url: https://example.com/
    tags: a, b
~ go.example.com/a
    url: https://example.com/ → https://example.com/b
- go.example.com/old

1 to create, 1 to change, 1 to delete.`,
    )
  })

  test('shows rules one by one, problems with their place, and that nothing changes', () => {
    const rules = 'rules: [{id: de, when: {country: [DE]}, then: {url: https://example.com/de}}]'
    const text = `links: [{link: go.example.com/a, url: https://example.com/, ${rules}}]`
    assert.match(
      shown(text, { links: [found('go.example.com/a')] }),
      /^ {4}rules\[0\]: – → \{"id":"de".*\}$/m,
    )
    const foreign = [found('go.example.com/a', { managed_by: 'other' })]
    assert.match(
      shown(ONE, { links: foreign }),
      /^! go\.example\.com\/a {2}links\.yaml:3:9 belongs to the set other$/m,
    )
    assert.equal(
      shown(ONE, { links: [found('go.example.com/a')] }),
      'No changes: the workspace is as the set flyers says.',
    )
  })

  test('names who changed a field, and cleans what controls a terminal', () => {
    const hostile = 'x\u001b[31m\u202e'
    const values = { notes: hostile }
    const plan = planned(ONE, { links: [found('go.example.com/a', { values })] })
    const [change] = plan.changes
    assert.ok(change)
    const drift = [{ field: 'notes', at: LATER, by: `grace${hostile}` }]
    const text = formatPlan(
      { ...plan, changes: [{ ...change, drift }] },
      { file: 'links.yaml', hasColors: false },
    )
    assert.match(text, /^ {6}edited by gracex. at 2026-12-02T10:00:00Z$/m)
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u)
    const json = planAsJson({ ...plan, changes: [{ ...change, drift }] })
    assert.deepEqual((json.changes as { edited: unknown }[])[0]?.edited, drift)
  })
})
