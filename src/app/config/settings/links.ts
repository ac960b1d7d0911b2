import { z } from 'zod'
import { flag, integer, schemes } from '../setting-schemas.ts'
import { setting } from './setting.ts'

const MIB = 1024 * 1024
const HOUR_MS = 60 * 60 * 1_000

/** Settings of links and of the answers to visits. */
export const LINK_SETTINGS = {
  TERSE_CLAIM_ON_LINK: setting({
    schema: flag('true', 'false'),
    default: 'true',
    description:
      'Whether creating a link on a host that its workspace has not added also adds the host, as a pending domain, if the token or person may add domains. `false`: such a link is refused.',
  }),
  TERSE_APP_SCHEMES: setting({
    schema: schemes,
    default: '',
    description:
      'URL schemes, separated by commas, that the `ios` and `android` destinations may use besides `http` and `https`, such as `myapp`.',
  }),
  TERSE_CACHE_MIB: setting({
    schema: integer(1, 65_536).transform((mib) => mib * MIB),
    default: '64',
    description: 'Memory in MiB for the links that each process caches.',
  }),
  TERSE_STALE_MAX_HOURS: setting({
    schema: integer(0, 8_760).transform((hours) => hours * HOUR_MS),
    default: '24',
    description:
      'Hours for which cached links redirect while PostgreSQL is down, in their last known state. `0`: not at all.',
  }),
  TERSE_LINK_COPY: setting({
    schema: flag('on', 'off'),
    default: 'off',
    description:
      'Whether cached links are also stored in the data folder, and with `TERSE_TLS=auto` the certificates, their private keys sealed. A node that starts while PostgreSQL is down then redirects, over HTTPS too. Each process needs about `TERSE_CACHE_MIB` of disk space for links, and a few MiB for certificates.',
  }),
  TERSE_COUNTRY_DATABASE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'the one that comes with Terse',
    description:
      'An `.mmdb` file that maps addresses to countries, such as DB-IP’s or MaxMind’s. Read once, at the start.',
    path: true,
  }),
  TERSE_FAST_REDIRECTS: setting({
    schema: flag('on', 'off'),
    default: 'on',
    description:
      'Whether plain visits bypass Node’s HTTP server, with the same answers at less cost. `off`: all requests go through it.',
  }),
} as const
