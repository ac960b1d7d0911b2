import { integer, oneOf } from '../setting-schemas.ts'
import { setting } from './setting.ts'

/** What a click has outlived once its visit is answered. */
const CLICK_DURABILITIES = ['process', 'disk'] as const

/** How safe a click is, and for how long it is kept. */
export const CLICK_SETTINGS = {
  TERSE_CLICK_DURABILITY: setting({
    schema: oneOf(CLICK_DURABILITIES),
    default: 'process',
    description:
      'What a click survives once its visitor is answered. `process`: the end of the process, however it ends. `disk`: that of the machine too; each answer waits for the disk.',
  }),
  TERSE_CLICK_RETENTION_DAYS: setting({
    schema: integer(0, 36_500),
    default: '365',
    description:
      'Days for which each single click is kept, for exports. `0` is for ever. What has been counted of clicks, the charts, is kept in any case.',
  }),
  TERSE_CLICK_CAP_PER_MINUTE: setting({
    schema: integer(0, 1_000_000),
    default: '300',
    description:
      'Clicks of one address (an IPv6 /64) on one link that each process keeps one by one in a minute. Further ones are counted as bots, and kept as a number. `0`: no cap.',
  }),
  TERSE_RAW_CLICKS_PER_MINUTE: setting({
    schema: integer(0, 100_000_000),
    default: '60000',
    description:
      'Clicks of one workspace that each process keeps one by one in a minute. Further ones are counted in the charts in full, but are not in exports. `0`: no limit.',
  }),
} as const
