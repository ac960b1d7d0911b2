import { z } from 'zod'
import { botsQuery, linksQuery, periodQuery } from './clicks.ts'
import { countedUntil, timestamp, uuid } from './primitives.ts'

const LINKS_MAX = 100

export const sparklinesQuery = z.strictObject({
  link: linksQuery(LINKS_MAX).describe(
    `The identifier of a link, up to ${LINKS_MAX} times. Links that do not exist are left out of the answer.`,
  ),
  ...periodQuery,
  from: periodQuery.from.describe(
    'Beginning: a date or an instant. By default the first of the 14 days that end with `to`.',
  ),
  bots: botsQuery,
})

const sparkline = z
  .object({
    link_id: uuid.describe('The link.'),
    total: z.int().describe('Its clicks in the whole period.'),
    clicks: z.array(z.int()).describe('Its clicks on each day of `starts`.'),
  })
  .meta({ id: 'Sparkline', description: 'Clicks of a link by day.' })

export const sparklines = z
  .object({
    from: timestamp.describe('Beginning of what was counted, at a quarter hour.'),
    to: timestamp.describe('End of what was counted, at a quarter hour; not included.'),
    timezone: z.string().describe('The zone in which days begin.'),
    counted_until: countedUntil,
    starts: z.array(timestamp).describe('When each day begins.'),
    data: z.array(sparkline).describe('In the order of the request.'),
  })
  .meta({ id: 'Sparklines', description: 'Clicks of several links by day.' })

export type SparklinesQuery = z.output<typeof sparklinesQuery>
export type SparklinesResource = z.output<typeof sparklines>
