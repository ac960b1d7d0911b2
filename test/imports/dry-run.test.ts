import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spooledClicks } from '../clicks/click-import.ts'
import { addDomain, addWorkspace } from '../storage/samples.ts'
import { describeStore } from '../support/store.ts'
import { type FakeRecord, FakeSource, linkRecord } from './fake-source.ts'
import { importServices } from './import-services.ts'

const LINKS = 1_500
const NOW = 1_700_000_000_000_000

/** Repeatable numbers from 0 (included) to 1 (excluded). */
function numbersOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

/** A workspace of another instance: chains, references to later rows, loops, doubles, values to refuse, clicks. */
function generated(seed: number, taken: string): FakeRecord[] {
  const next = numbersOf(seed)
  const upTo = (count: number) => Math.floor(next() * count)
  const oneOf = <T>(all: readonly T[]): T => all[upTo(all.length)] as T
  const hosts = ['a.example', 'b.example', null]
  const urlOf = (nth: number) => {
    const host = oneOf(['a.example', 'b.example', 'go.example', taken])
    return oneOf([
      `https://example.com/${nth}`,
      `https://${host}/k${upTo(LINKS)}`,
      `https://${host}/K${nth}`,
      `https://${host}/k${nth}`,
      `https://${host}/k${nth + 1}`,
      `https://${taken}/elsewhere`,
    ])
  }
  const domains = ['a.example', 'b.example', 'a.example', 'co.uk', 'kept.example'].map(
    (domain, index): FakeRecord => ({
      ...{ kind: 'domain', place: `domain ${index}`, domain, notes: [] },
      ...{ not_found_url: `https://${domain}/k1`, expired_url: null },
    }),
  )
  const templates = ['one', 'two', 'one'].map(
    (name, index): FakeRecord => ({
      ...{ kind: 'utm template', place: `template ${index}`, name, utm_source: 's' },
      ...{
        utm_medium: null,
        utm_campaign: null,
        utm_term: null,
        utm_content: null,
        utm_name: null,
      },
    }),
  )
  const sets: readonly FakeRecord[] = [
    { kind: 'labels', place: 'labels', parameter: 'from', labels: ['a'] },
    { kind: 'rule set', place: 'set', name: 'Set', rules: [] },
    ...['a.example', 'kept.example', 'co.uk'].map(
      (domain): FakeRecord => ({
        ...{ kind: 'domain settings', place: `settings of ${domain}`, domain },
        ...{ settings: { robots: 'index' }, rule_set_name: oneOf(['Set', 'None']) },
      }),
    ),
  ]
  const links = Array.from({ length: LINKS }, (_, nth) =>
    linkRecord({
      rule_set_name: oneOf([null, null, 'set', 'None']),
      ref: next() < 0.02 ? `ref ${upTo(nth + 1)}` : `ref ${nth}`,
      key: next() < 0.05 ? oneOf(['taken', `k${upTo(LINKS)}`, 'api', 'bad key']) : `k${nth}`,
      place: `link ${nth}`,
      domain: next() < 0.02 ? taken : oneOf(hosts),
      url: next() < 0.02 ? 'javascript:1' : urlOf(nth),
      ios: next() < 0.1 ? urlOf(nth) : null,
      expired_redirect_url: next() < 0.1 ? urlOf(nth) : null,
      clicks: next() < 0.7 ? upTo(40) : null,
    }),
  )
  const clicks = Array.from({ length: LINKS }, (): FakeRecord => {
    const ref = `ref ${upTo(LINKS + 20)}`
    const at = next() < 0.02 ? NOW * 9 : NOW - upTo(1_000_000) * 1_000_000
    const visit = { address: null, user_agent: null, referrer: '', country: '' }
    return next() < 0.5
      ? { kind: 'count', ref, at, interval: 'hour', count: 1 + upTo(9) }
      : { kind: 'click', ref, at, ...visit, is_bot: next() < 0.2 }
  })
  // In any order, but for what a source promises.
  const shuffled = links.map((link) => ({ link, at: next() })).sort((a, b) => a.at - b.at)
  return [...templates, ...domains, ...sets, ...shuffled.map(({ link }) => link), ...clicks]
}

describeStore('a dry run of an import', (at) => {
  for (const [seed, onConflict] of (['skip', 'update', 'rename'] as const).entries()) {
    test(`says of each row and click what the import does, with ${onConflict}`, async () => {
      const counting = spooledClicks(at.store, at.place, async () => {})
      const { importAll, actor, store, linksByKey } = await importServices(at, counting)
      const other = await addWorkspace(at.store)
      const taken = await addDomain(at.store, other.id, { status: 'active' })
      await addDomain(at.store, actor.workspaceId, { host: 'kept.example' })
      const before = [linkRecord({ key: 'taken', domain: null }), linkRecord({ key: 'k7' })]
      const options = { domains: { '': 'go.example' }, onConflict }
      await importAll(new FakeSource(before.map((link) => ({ ...link, domain: null }))), {
        options: { domains: { '': 'go.example' } },
        source: 'earlier',
      })
      const records = generated(seed + 1, taken.host)
      const shown = async (isDryRun: 0 | 1) => {
        const { ended, rows } = await importAll(new FakeSource(records), {
          is_dry_run: isDryRun,
          options,
        })
        assert.equal(ended.status, 'succeeded', ended.fault ?? '')
        const lines = rows.map(({ place, old_link, outcome, link, reason, is_closed, is_locked }) =>
          JSON.stringify({ place, old_link, outcome, link, reason, is_closed, is_locked }),
        )
        return { lines, counts: ended.counts }
      }
      const links = (await linksByKey()).size
      const tried = await shown(1)
      assert.equal((await linksByKey()).size, links)
      const done = await shown(0)
      assert.deepEqual(tried, done)
      const { counts } = done
      const added = ['domains', 'utm_templates', 'rule_sets', 'settings'] as const
      for (const count of ['created', 'refused', 'skipped', ...added] as const) {
        assert.ok(counts[count] > 0, count)
      }
      for (const count of ['clicks', 'clicks_left_out', 'clicks_opening'] as const) {
        assert.ok(counts[count] > 0, count)
      }
      assert.equal(await store.read.importRows.openingOfDryRun(actor.workspaceId), 0)
    })
  }
})
