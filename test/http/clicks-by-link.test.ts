import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Click } from '../../src/clicks/click.ts'
import { expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, type LinkBody } from '../support/links.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { UNKNOWN_ID } from '../support/operations.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const PERIOD = 'from=2026-03-29&to=2026-03-31'

const tests = (stage: Stage) => {
  const links = {} as Record<'busy' | 'quiet' | 'other' | 'deleted', LinkBody>
  let foreign: LinkBody
  before(async () => {
    const { api, service } = stage
    links.busy = await createLink(api, { key: 'busy', tags: ['a', 'b'], utm_medium: 'email' })
    links.quiet = await createLink(api, { key: 'quiet', tags: ['b'], domain: 'go.localhost' })
    links.other = await createLink(api, {
      key: 'other',
      url: 'https://example.com/?utm_medium=print&utm_campaign=spring',
    })
    links.deleted = await createLink(api, { key: 'deleted' })
    foreign = await createLink(await service.api('foreign'), { key: 'foreign', tags: ['a'] })
    const at = (text: string) => Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
    const clicked = async (link: LinkBody, ...rest: Partial<Click>[]) => {
      const link_seq = await seqOf(service, link)
      return rest.map((fields) =>
        someClick({ link_seq, at: at('2026-03-29T12:00:00Z'), ...fields }),
      )
    }
    await takeIn(service, [
      ...(await clicked(
        links.busy,
        { country: 'DE' },
        { country: 'AT' },
        { country: 'DE', at: at('2026-03-30T12:00:00Z') },
        { flags: 1 },
      )),
      ...(await clicked(links.quiet, { country: 'DE' }, { flags: 1 }, { flags: 1 })),
      ...(await clicked(links.other, { country: 'FR' })),
      ...(await clicked(links.deleted, { country: 'FR' }, { country: 'DE' })),
      ...(await clicked(foreign, { country: 'DE' })),
    ])
    expectStatus(await api.delete(`/links/${links.deleted.id}`), 200)
  })

  const report = async (query: string, path = '/clicks') =>
    expectStatus(await stage.api.get(`${path}?${PERIOD}&${query}`), 200).body
  const linkOf = ({ id, domain, key, url }: LinkBody) => ({ id, domain, key, url })

  test('returns the links with most clicks, each with its fields', async () => {
    const { data, rest, total } = await report('group_by=link&limit=2')
    assert.deepEqual(data, [
      { value: links.busy.id, link: linkOf(links.busy), clicks: 3 },
      { value: null, link: null, clicks: 2 },
    ])
    assert.deepEqual([rest, total.clicks], [{ values: 2, clicks: 2 }, 7])
    const byBots = await report('group_by=link&bots=only&limit=1')
    assert.equal(byBots.data[0].value, links.quiet.id)
  })

  test('counts a click for each tag of its link', async () => {
    const { data, total } = await report('group_by=tag')
    assert.deepEqual(data, [
      { value: 'b', clicks: 4 },
      { value: null, clicks: 3 },
      { value: 'a', clicks: 3 },
    ])
    assert.equal(total.clicks, 7)
  })

  test('counts by the UTM values of links, or of their destinations, and selects them', async () => {
    const byMedium = await report('group_by=utm_medium')
    assert.deepEqual(byMedium.data, [
      { value: null, clicks: 3 },
      { value: 'email', clicks: 3 },
      { value: 'print', clicks: 1 },
    ])
    const byCampaign = await report('group_by=utm_campaign')
    assert.deepEqual(byCampaign.data, [
      { value: null, clicks: 6 },
      { value: 'spring', clicks: 1 },
    ])
    assert.equal((await report('utm_medium=email&utm_medium=print')).total.clicks, 4)
    assert.equal((await report('utm_medium=email&tag=b&country=de')).total.clicks, 2)
    assert.equal((await report('utm_medium=EMAIL')).total.clicks, 0)
    assert.equal((await report('utm_medium=')).total.clicks, 3)
    assert.equal((await report('utm_campaign=spring&utm_source=&tag=')).total.clicks, 1)
    const { data } = await report('utm_medium=email&group_by=utm_medium&interval=day')
    assert.deepEqual(
      data[0].points.map(({ clicks }: { clicks: number }) => clicks),
      [2, 1],
    )
  })

  test('reports the links of a domain', async () => {
    const { data: domains } = expectStatus(await stage.api.get('/domains'), 200).body
    const { data } = await report('group_by=link', `/domains/${domains[0].id}/clicks`)
    assert.deepEqual(
      data.map(({ value }: { value: string }) => value),
      [links.quiet.id],
    )
  })

  test('reports a tag, by interval and by country', async () => {
    const byDay = await report('tag=b&interval=day')
    assert.deepEqual(
      byDay.data.map(({ clicks }: { clicks: number }) => clicks),
      [3, 1],
    )
    const byCountry = await report('tag=b&tag=none&group_by=country')
    assert.deepEqual(byCountry.data, [
      { value: 'DE', clicks: 3 },
      { value: 'AT', clicks: 1 },
    ])
    assert.equal((await report('tag=b&country=at')).total.clicks, 1)
  })

  test('compares links by interval, and takes those of another workspace for unknown', async () => {
    const ids = [links.quiet.id, links.busy.id, foreign.id, UNKNOWN_ID]
    const query = ids.map((id) => `link=${id}`).join('&')
    const { data, total, rest } = await report(`${query}&group_by=link&interval=day`)
    assert.deepEqual(
      data.map(({ link, points, clicks }: { link: LinkBody; points: object[]; clicks: number }) => [
        link.key,
        clicks,
        points,
      ]),
      [
        [
          'busy',
          3,
          [
            { start: '2026-03-29T00:00:00.000000Z', clicks: 2 },
            { start: '2026-03-30T00:00:00.000000Z', clicks: 1 },
          ],
        ],
        [
          'quiet',
          1,
          [
            { start: '2026-03-29T00:00:00.000000Z', clicks: 1 },
            { start: '2026-03-30T00:00:00.000000Z', clicks: 0 },
          ],
        ],
      ],
    )
    assert.deepEqual(total, { clicks: 4, bots: 3, visitors: null })
    assert.deepEqual(rest, { values: 0, clicks: 0 })
    const filtered = await report(`${query}&group_by=link&country=DE`)
    assert.deepEqual(
      filtered.data.map(({ clicks }: { clicks: number }) => clicks),
      [2, 1],
    )
    assert.equal((await report(query)).total.clicks, 4)
  })

  test('returns 422 for too many links, and for another group', async () => {
    const ids = Array(11).fill(`link=${UNKNOWN_ID}`).join('&')
    expectInvalid(await stage.api.get(`/clicks?${ids}`), 'link')
    expectInvalid(await stage.api.get('/clicks?group_by=key'), 'group_by')
  })
}

// The dates of the clicks are fixed, and older from day to day.
onEachEngine('clicks by link and by tag', tests, { TERSE_CLICK_RETENTION_DAYS: '0' })
