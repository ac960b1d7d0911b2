import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { addDomain, addPerson, addWorkspace } from '../storage/samples.ts'
import { describeStore } from '../support/store.ts'
import { type FakeRecord, FakeSource, linkRecord } from './fake-source.ts'
import { importServices } from './import-services.ts'

const RULES = [{ id: 'set-1', when: { country: ['DE'] }, then: { url: 'https://x.example/' } }]
const OTHER_RULES = [{ ...RULES[0], when: {} }] as typeof RULES
const LABELS = { kind: 'labels', place: 'l', parameter: 'from', labels: ['a'] } as const

type Starter = { readonly actor_kind?: 'person'; readonly actor_id?: string }

const setNamed = (name: string, rules = RULES): FakeRecord => ({
  ...{ kind: 'rule set', place: `set ${name}`, name },
  rules,
})
const settingsOf = (domain: string, rule_set_name: string | null = null): FakeRecord => ({
  ...{ kind: 'domain settings', place: `settings of ${domain}`, domain, rule_set_name },
  settings: { root_url: 'https://acme.example/', robots: 'index' },
})

describeStore('an import of what links and domains use', (at) => {
  /** The services of a workspace with a domain, and what runs imports into it and returns what became of the rows. */
  async function target() {
    const services = await importServices(at)
    const { importAll, actor, store } = services
    await addDomain(at.store, actor.workspaceId, { host: `kept-${services.host}` })
    const run = async (is_dry_run: number, records: readonly FakeRecord[], as: Starter = {}) => {
      const { ended, rows } = await importAll(new FakeSource(records), { is_dry_run, ...as })
      assert.equal(ended.status, 'succeeded', ended.fault ?? '')
      return rows.map(({ outcome, reason }) => `${outcome}: ${reason}`)
    }
    return { ...services, run, read: store.read }
  }

  test('lets links use the set of the same name, in any letter case, whose rules stay', async () => {
    const { run, ruleSets, actor, linksByKey } = await target()
    const own = await ruleSets.create(actor, { name: 'SHOPS', rules: OTHER_RULES })
    const records = [
      setNamed('Shops'),
      setNamed('New'),
      linkRecord({ key: 'a', rule_set_name: 'Shops' }),
      linkRecord({ key: 'b', rule_set_name: 'New' }),
    ]
    const tried = await run(1, records)
    assert.equal(await ruleSets.findByName(actor, 'New'), undefined)
    const done = await run(0, records)
    assert.deepEqual(tried, done)
    assert.match(done[0] ?? '', /^skipped: .* with other rules/)
    assert.deepEqual(done.slice(1), ['created: ', 'created: ', 'created: '])
    const made = await ruleSets.findByName(actor, 'new')
    assert.deepEqual(made?.rules, RULES)
    assert.deepEqual((await ruleSets.findByName(actor, 'shops'))?.rules[0]?.when, {})
    const links = await linksByKey()
    assert.deepEqual([links.get('a')?.rule_set, links.get('b')?.rule_set], [own.id, made?.id])
    assert.match((await run(0, records))[1] ?? '', /^skipped: The rule set is there already/)
  })

  test('takes no set of another workspace, and says so at the link', async () => {
    const { run, ruleSets, linksByKey, store } = await target()
    const other = commandLine((await addWorkspace(store)).id)
    await ruleSets.create(other, { name: 'Theirs', rules: RULES })
    const records = [linkRecord({ key: 'a', rule_set_name: 'Theirs' })]
    const expected = ['created: The workspace has no rule set Theirs: choose another.']
    assert.deepEqual(await run(1, records), expected)
    assert.deepEqual(await run(0, records), expected)
    const link = (await linksByKey()).get('a')
    assert.equal(link?.rule_set, null)
    const [kept] = await store.read.importRows.findByLink(link?.workspace_id ?? '', [
      link?.seq ?? 0,
    ])
    assert.deepEqual(JSON.parse(kept?.rest ?? ''), { rule_set: 'Theirs' })
  })

  test('leaves out single rules and settings that are refused, and says which', async () => {
    const bad = {
      ...RULES[0],
      id: 'set-2',
      then: { url: 'javascript:alert(1)' },
    } as (typeof RULES)[0]
    const records: readonly FakeRecord[] = [
      setNamed('Some', [...RULES, bad] as typeof RULES),
      {
        kind: 'domain',
        place: 'd',
        domain: 'new.example',
        not_found_url: null,
        expired_url: null,
        notes: [],
      },
      {
        ...{ kind: 'domain settings', place: 's', domain: 'new.example', rule_set_name: 'Some' },
        settings: { root_url: 'https://new.example/', robots: 'noindex' },
      },
    ]
    const { run, ruleSets, actor, read } = await target()
    const tried = await run(1, records)
    const done = await run(0, records)
    assert.deepEqual(tried, done)
    assert.match(
      done[0] ?? '',
      /^created: The rule to "javascript:alert\(1\)" was left out: then\.url /,
    )
    assert.match(done[2] ?? '', /^created: root_url .* It was left out\.$/)
    const set = await ruleSets.findByName(actor, 'Some')
    assert.deepEqual(set?.rules, RULES)
    const domain = await read.domains.findByHost(actor.workspaceId, 'new.example')
    const settings = await read.domainSettings.find(domain?.id ?? '')
    assert.deepEqual(
      [settings?.root_url, settings?.robots, settings?.rule_set],
      [null, 'noindex', set?.id],
    )
  })

  test('keeps settings and labels that are there, and refuses those of unknown domains', async () => {
    const { run, domainSettings, labels, actor, host, read } = await target()
    const kept = await read.domains.findByHost(actor.workspaceId, `kept-${host}`)
    const id = kept?.id ?? ''
    await domainSettings.update(actor, id, { robots: 'disallow' }, { replaces: true })
    await labels.update(actor, { parameter: null })
    const records = [LABELS, settingsOf(`kept-${host}`), settingsOf('unknown.example')]
    const tried = await run(1, records)
    const done = await run(0, records)
    assert.deepEqual(tried, done)
    assert.match(done[0] ?? '', /^skipped: The workspace has settings for labels already/)
    assert.match(done[1] ?? '', /^skipped: The domain has settings already/)
    assert.match(done[2] ?? '', /^refused: /)
    assert.equal((await read.domainSettings.find(id))?.robots, 'disallow')
    assert.equal((await labels.get(actor)).parameter, null)
  })

  test('changes neither domains nor labels without the permission', async () => {
    const { run, actor, store, host, labels, read } = await target()
    const person = await addPerson(at.store)
    const joined = { workspace_id: actor.workspaceId, person_id: person.id, created_at: 1 }
    await store.write((stores) =>
      stores.memberships.insert({ ...joined, role: 'member', source: 'hand' }),
    )
    const starter = { actor_kind: 'person', actor_id: person.id } as const
    const records = [LABELS, settingsOf(`kept-${host}`), setNamed('Members may')]
    const done = await run(0, records, starter)
    assert.deepEqual(
      done.map((row) => row.split(':')[0]),
      ['refused', 'refused', 'created'],
    )
    assert.equal((await labels.get(actor)).parameter, 'via')
    const kept = await read.domains.findByHost(actor.workspaceId, `kept-${host}`)
    assert.equal(await read.domainSettings.find(kept?.id ?? ''), undefined)
  })
})
