import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, type LinkBody } from '../support/links.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { UNKNOWN_ID } from '../support/operations.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const tests = (stage: Stage) => {
  const links: LinkBody[] = []
  let foreign: LinkBody
  before(async () => {
    const at = (text: string) => Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
    // More links than are read at once.
    for (let nth = 0; nth < 12; nth += 1) links.push(await createLink(stage.api))
    foreign = await createLink(await stage.service.api('other'))
    const seqs = await Promise.all([...links, foreign].map((link) => seqOf(stage.service, link)))
    const [first = 0] = seqs
    await takeIn(stage.service, [
      someClick({ link_seq: first, at: at('2026-03-28T22:59:59Z') }),
      someClick({ link_seq: first, at: at('2026-03-28T23:00:00Z') }),
      someClick({ link_seq: first, at: at('2026-03-29T21:59:59Z'), flags: 1 }),
      someClick({ link_seq: first, at: at('2026-03-29T22:00:00Z') }),
      someClick({ link_seq: seqs[11] ?? 0, at: at('2026-03-29T12:00:00Z') }),
      someClick({ link_seq: seqs[12] ?? 0, at: at('2026-03-29T12:00:00Z') }),
    ])
  })

  const show = async (ids: readonly string[], query = '') => {
    const sent = `${ids.map((id) => `link=${id}`).join('&')}${query}`
    return expectStatus(await stage.api.get(`/clicks/sparklines?${sent}`), 200).body
  }

  const DAYS = '&from=2026-03-28&to=2026-03-31&timezone=Europe/Berlin'

  test('counts the clicks of each link by day of the zone, in the order of the request', async () => {
    const ids = links.map(({ id }) => id).toReversed()
    const { data, ...head } = await show(ids, DAYS)
    assert.deepEqual(head, {
      from: '2026-03-28T00:00:00.000000+01:00',
      to: '2026-03-31T00:00:00.000000+02:00',
      timezone: 'Europe/Berlin',
      counted_until: null,
      starts: [
        '2026-03-28T00:00:00.000000+01:00',
        '2026-03-29T00:00:00.000000+01:00',
        '2026-03-30T00:00:00.000000+02:00',
      ],
    })
    assert.equal(data.length, 12)
    assert.deepEqual(data[0], { link_id: ids[0], total: 1, clicks: [0, 1, 0] })
    assert.deepEqual(data[1], { link_id: ids[1], total: 0, clicks: [0, 0, 0] })
    assert.deepEqual(data[11], { link_id: ids[11], total: 3, clicks: [1, 1, 1] })
    const [withBots] = (await show([links[0].id], `${DAYS}&bots=include`)).data
    assert.deepEqual(withBots.clicks, [1, 2, 1])
  })

  test('shows the last 14 days without a period', async () => {
    const { starts, data } = await show([links[0].id])
    assert.deepEqual([starts.length, data[0].clicks.length], [14, 14])
  })

  test('leaves out links of another workspace, like those that do not exist', async () => {
    const { data } = await show([foreign.id, UNKNOWN_ID, 'no-id', links[0].id], DAYS)
    assert.deepEqual(
      data.map(({ link_id }: { link_id: string }) => link_id),
      [links[0].id],
    )
  })

  for (const [query, field] of [
    ['from=2026-03-28', 'link'],
    [Array(101).fill('link=x').join('&'), 'link'],
    ['link=x&from=tomorrow', 'from'],
    [`${Array(100).fill('link=x').join('&')}&from=2025-01-01&to=2026-01-01`, 'from'],
  ] as const) {
    test(`returns 422 on ${field} for ${query.slice(0, 40)}`, async () => {
      expectInvalid(await stage.api.get(`/clicks/sparklines?${query}`), field)
    })
  }
}

// The dates of the clicks are fixed, and older from day to day.
onEachEngine('GET /api/v1/clicks/sparklines', tests, { TERSE_CLICK_RETENTION_DAYS: '0' })
