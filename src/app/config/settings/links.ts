import { z } from 'zod'
import { flag, integer, schemes } from '../setting-schemas.ts'
import { setting } from './setting.ts'

const MIB = 1024 * 1024
const HOUR_MS = 60 * 60 * 1_000

/** What a link may be, and how visits to it are answered. */
export const LINK_SETTINGS = {
  TERSE_CLAIM_ON_LINK: setting({
    schema: flag('true', 'false'),
    default: 'true',
    description:
      'Whether a link on a host that its workspace has not added adds it, as a pending domain. `false`: such a link is refused.',
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
    description: 'Memory in MiB for the links that each process keeps at hand.',
  }),
  TERSE_STALE_MAX_HOURS: setting({
    schema: integer(0, 8_760).transform((hours) => hours * HOUR_MS),
    default: '24',
    description:
      'Hours for which links at hand go on redirecting while PostgreSQL is away, as they last were. `0`: not at all.',
  }),
  TERSE_LINK_COPY: setting({
    schema: flag('on', 'off'),
    default: 'off',
    description:
      'Whether the links at hand are kept in the data folder too, and with `TERSE_TLS=auto` the certificates, their private keys sealed: so that a node that starts while PostgreSQL is away redirects, over HTTPS too. Links take about as much room there as `TERSE_CACHE_MIB` says, certificates a few MiB, in each process.',
  }),
  TERSE_COUNTRY_DATABASE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'the one that comes with Terse',
    description:
      'An `.mmdb` file that tells the country of an address, such as DB-IP’s or MaxMind’s. Read once, at the start.',
    path: true,
  }),
  TERSE_FAST_REDIRECTS: setting({
    schema: flag('on', 'off'),
    default: 'on',
    description:
      'Whether plain visits are answered past Node’s HTTP server, in the same way at less cost. `off`: all requests go through it.',
  }),
} as const
