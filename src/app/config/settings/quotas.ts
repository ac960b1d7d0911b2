import { integer } from '../setting-schemas.ts'
import { setting } from './setting.ts'

const MIB = 1024 * 1024
const COUNT_MAX = 1_000_000_000_000

/** The default quotas of a workspace. */
export const QUOTA_SETTINGS = {
  TERSE_QUOTA_LINKS: setting({
    schema: integer(0, COUNT_MAX),
    default: '0',
    description:
      'Links that each workspace may have. `0`: no limit. `npx terse workspace quota` sets other limits for one workspace, for this and the other quotas.',
  }),
  TERSE_QUOTA_DOMAINS: setting({
    schema: integer(0, COUNT_MAX),
    default: '0',
    description: 'Domains that each workspace may have, active and pending. `0`: no limit.',
  }),
  TERSE_QUOTA_PENDING_DOMAINS: setting({
    schema: integer(0, COUNT_MAX),
    default: '1000',
    description: 'Domains that each workspace may have waiting for their proof. `0`: no limit.',
  }),
  TERSE_QUOTA_STORAGE_MIB: setting({
    schema: integer(0, 1_000_000_000).transform((mib) => mib * MIB),
    default: '0',
    description:
      'Text in MiB that the links of each workspace may hold: keys, destinations, tags and the like. `0`: no limit.',
  }),
  TERSE_QUOTA_REQUESTS: setting({
    schema: integer(0, 1_000_000_000),
    default: '0',
    description:
      'API requests per minute of each workspace, those of all its tokens together, counted like `TERSE_RATE_LIMIT`. `0`: no limit.',
  }),
} as const
