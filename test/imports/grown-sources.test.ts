import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { LinkRecord } from '../../src/imports/import-source.ts'
import type { SourceSettings } from '../../src/imports/source-kinds.ts'
import { openSource, type SourceAccess } from '../../src/imports/sources/open-source.ts'
import { type GrownService, growSource } from '../support/grown-sources/grow-source.ts'
import { formatSecond, readSorted, readTruth } from '../support/import-sources.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const GROWTH = { links: 400, clicks: 5_000, seed: 7 }
const MADE_AT = Date.parse('2026-11-22') * 1_000

/** Files need no access to a network. */
const NO_ACCESS = {} as SourceAccess

const SERVICES: { service: GrownService; kind: 'kutt-sqlite' | 'yourls-sql' | 'sink' }[] = [
  { service: 'kutt', kind: 'kutt-sqlite' },
  { service: 'yourls', kind: 'yourls-sql' },
  { service: 'sink', kind: 'sink' },
]

function stateOf({ closed, expires_at, protection }: LinkRecord): string {
  if (closed !== null) return 'disabled'
  if (expires_at !== null && Number(expires_at) < MADE_AT) return 'expired'
  return protection.kind === 'none' ? 'active' : 'protected'
}

for (const { service, kind } of SERVICES)
  describe(`a grown source of ${service}`, () => {
    test('has the links and clicks of its truth.csv', async (t) => {
      const { file, truth } = growSource(service, temporaryFolder(t), GROWTH)
      const settings: SourceSettings = { kind, file, timeZone: 'UTC' }
      const { links, clicks, counts, refused } = await readSorted(
        await openSource(settings, NO_ACCESS),
      )
      assert.deepEqual(refused, [])
      const site = `${service}.example.com`
      const found = links.map((link) => [
        ...[link.domain ?? site, link.key, link.url, formatSecond(link.created_at)],
        ...[String(link.clicks ?? ''), stateOf(link)],
      ])
      const expected = readTruth(truth).map((row) => [
        ...[row.domain, row.key, row.url, row.created_at, row.clicks, row.state],
      ])
      assert.deepEqual(found.sort(), expected.sort())
      assert.equal(links.length, GROWTH.links)
      if (service === 'sink') return
      // Each of the made-up links has as many clicks as its total.
      const made = new Map(
        links
          .filter(({ key }) => key.toLowerCase().startsWith('grown-'))
          .map(({ ref, clicks: total }) => [ref, total]),
      )
      const sums = new Map([...made].map(([ref]) => [ref, 0]))
      for (const { ref, count } of [
        ...counts,
        ...clicks.map((click) => ({ ref: click.ref, count: 1 })),
      ])
        if (made.has(ref)) sums.set(ref, (sums.get(ref) ?? 0) + count)
      assert.deepEqual(sums, made)
      const total = links.reduce((sum, link) => sum + (link.clicks ?? 0), 0)
      assert.equal(total, GROWTH.clicks)
    })

    test('is the same for the same seed', (t) => {
      const grow = (seed: number) => {
        const { file, truth } = growSource(service, temporaryFolder(t), { ...GROWTH, seed })
        return [file, truth].map((each) => hash('sha256', readFileSync(each)))
      }
      assert.deepEqual(grow(1), grow(1))
      assert.notDeepEqual(grow(1), grow(2))
    })
  })
