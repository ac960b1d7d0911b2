import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ImportSource, ImportSourceFault } from '../../src/imports/import-source.ts'
import { openKuttSqlite } from '../../src/imports/sources/kutt.ts'
import {
  assertResumes,
  formatSecond,
  importFixture,
  readSorted,
  readTruth,
} from './import-sources.ts'

export const KUTT_FILE = importFixture('kutt/kutt.db')
export const KUTT_TRUTH = readTruth(importFixture('kutt/truth.csv'))
/** When the database was copied. */
const MADE_AT = Date.parse('2026-11-22') * 1_000
/** The site's own domain, which the database does not name. */
const SITE = 'kutt.example.com'

export const openKuttFile = (file = KUTT_FILE) =>
  openKuttSqlite({ kind: 'kutt-sqlite', file, timeZone: 'UTC' })
/** Returns a check of a fault's message. */
export const faultOf =
  (message: RegExp, isTransient = false) =>
  (error: unknown) =>
    error instanceof ImportSourceFault &&
    message.test(error.message) &&
    error.isTransient === isTransient

/** Tests a source of Kutt's database against what is in it. */
export function describeKutt(name: string, open: () => ImportSource): void {
  describe(name, () => {
    test('has every link of truth.csv', async () => {
      const { links, refused } = await readSorted(open())
      assert.deepEqual(refused, [])
      const found = links.map((link) => [
        ...[link.domain ?? SITE, link.key, link.url, formatSecond(link.created_at)],
        ...[link.clicks, formatSecond(link.last_click)],
      ])
      const expected = KUTT_TRUTH.map((truth) => [
        ...[truth.domain, truth.key, truth.url, truth.created_at],
        ...[Number(truth.clicks), truth.last_click],
      ])
      assert.deepEqual(found, expected)
    })

    test('keeps protected, disabled and expired links so', async () => {
      const { links } = await readSorted(open())
      const states = links.map(({ protection, closed, expires_at }) => {
        if (closed !== null) return 'disabled'
        if (expires_at !== null && Number(expires_at) < MADE_AT) return 'expired'
        return protection.kind === 'none' ? 'active' : 'protected'
      })
      assert.deepEqual(
        states,
        KUTT_TRUTH.map(({ state }) => state),
      )
      assert.deepEqual(new Set(states), new Set(['active', 'protected', 'disabled', 'expired']))
    })

    test('counts visits by the hour, as many as each link has', async () => {
      const { links, counts } = await readSorted(open())
      assert.ok(counts.every(({ interval, count }) => interval === 'hour' && count > 0))
      const byLink = Map.groupBy(counts, ({ ref }) => ref)
      for (const { key, ref, last_click: last } of links) {
        const instants = (byLink.get(ref) ?? []).map(({ at }) => at)
        assert.equal(Math.max(...instants), last ?? Number.NEGATIVE_INFINITY, key)
      }
      const differing = links
        .map((link) => {
          const sum = (byLink.get(link.ref) ?? []).reduce((total, { count }) => total + count, 0)
          return { key: link.key, more: (link.clicks ?? 0) - sum }
        })
        .filter(({ more }) => more !== 0)
      // The totals of these two were set by hand.
      assert.deepEqual(differing, [
        { key: 'desc', more: 10 },
        { key: 'desc-uni', more: 250 },
      ])
    })

    test('yields the link that Kutt serves first when an address occurs several times', async () => {
      const { links } = await readSorted(open())
      const ids = links
        .filter(({ key }) => key === 'race')
        .map(({ ref }) => Number.parseInt(ref, 10))
      assert.equal(ids.length, 3)
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      )
    })

    test('keeps descriptions', async () => {
      const { links } = await readSorted(open())
      const described = links.filter(({ options }) => options.notes !== undefined)
      assert.ok(described.some(({ options }) => options.notes?.includes('\n')))
    })

    test('is read from any record on', () => assertResumes(open()))

    test('counts its links', async () => {
      const { signal } = new AbortController()
      assert.equal(await open().countLinks(signal), KUTT_TRUTH.length)
    })

    test('stops when it is aborted', async () => {
      const signal = AbortSignal.abort(new Error('cancelled'))
      await assert.rejects(Array.fromAsync(open().read({ resume: undefined, signal })), /cancelled/)
    })
  })
}
