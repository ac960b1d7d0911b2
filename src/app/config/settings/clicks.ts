import { integer, oneOf } from '../setting-schemas.ts'
import { setting } from './setting.ts'

/** What an answered click survives: a crash of the process, or a power failure as well. */
const CLICK_DURABILITIES = ['process', 'disk'] as const

/** Settings of the durability and retention of clicks. */
export const CLICK_SETTINGS = {
  TERSE_CLICK_DURABILITY: setting({
    schema: oneOf(CLICK_DURABILITIES),
    default: 'process',
    description:
      'What an answered click survives. `process`: a crash of the process. `disk`: a crash of the machine too; each answer waits for the disk.',
  }),
  TERSE_CLICK_RETENTION_DAYS: setting({
    schema: integer(0, 36_500),
    default: '365',
    description:
      'Days for which single clicks are stored, for exports. `0`: for ever. The counts, and so the charts, are always kept.',
  }),
  TERSE_CLICK_CAP_PER_MINUTE: setting({
    schema: integer(0, 1_000_000),
    default: '300',
    description:
      'Clicks of one address (an IPv6 /64) on one link that each process stores one by one in a minute. Further ones are counted as bots, and stored as a number. `0`: no cap.',
  }),
  TERSE_RAW_CLICKS_PER_MINUTE: setting({
    schema: integer(0, 100_000_000),
    default: '60000',
    description:
      'Clicks of one workspace that each process stores one by one in a minute. Further ones are fully counted in charts, but missing in exports. `0`: no limit.',
  }),
} as const
