import { z } from 'zod'
import { parseDatabaseUrl } from '../../../platform/database/postgres/database-url.ts'
import { integer } from '../setting-schemas.ts'
import { setting } from './setting.ts'

/** Settings of the data folder, the database, and the key that seals secrets. */
export const STORAGE_SETTINGS = {
  TERSE_DATA_DIR: setting({
    schema: z.string().min(1),
    default: './data',
    description:
      'The folder for everything that must be kept: database, click journal, secret key. `--data-dir` takes precedence.',
    path: true,
  }),
  TERSE_ENV_FILE: setting({
    schema: z.string().optional(),
    default: undefined,
    unset: '`terse.env` in the data folder, if there is one',
    description:
      'A file with settings, one `NAME=value` a line; the environment takes precedence over it. `--env-file` takes precedence over this variable.',
    path: true,
  }),
  TERSE_EVENT_RETENTION_DAYS: setting({
    schema: integer(0, 36_500),
    default: '365',
    description:
      'Days for which events are kept: who changed what, as `GET /api/v1/events` returns it. `0` is for ever.',
  }),
  TERSE_DATABASE_URL: setting({
    schema: z
      .string()
      .superRefine((text, context) => {
        const parsed = parseDatabaseUrl(text)
        if ('fault' in parsed) context.addIssue({ code: 'custom', message: parsed.fault })
      })
      .optional(),
    default: undefined,
    unset: 'SQLite in the data folder',
    description:
      'A PostgreSQL database to use instead of SQLite, such as `postgres://user@host/terse`. With standbys, name all servers: `postgres://user@host1:5432,host2:5432/terse?target_session_attrs=read-write`; Terse uses the one that accepts writes.',
    secret: true,
  }),
  TERSE_DATABASE_TIMEOUT_SECONDS: setting({
    schema: integer(1, 60).transform((seconds) => seconds * 1_000),
    default: '2',
    description:
      'How long PostgreSQL may take for a request. After that, and at most a second more, the answer is 503 (searches, charts and exports may take longer while it responds at all). Cached links redirect in any case. Raise it if the database is far away or slow.',
  }),
  TERSE_DISK_LOW_PERCENT: setting({
    schema: integer(0, 99).transform((percent) => percent / 100),
    default: '5',
    description:
      'The service warns when less than this share of the data folder’s disk is free, in percent. `0`: never.',
  }),
  TERSE_FILE_CHECK_HOURS: setting({
    schema: integer(0, 24 * 366).transform((hours) => hours * 3_600_000),
    default: '24',
    description:
      'Hours between two checks of the SQLite files for damage, by a process of low priority. They are also checked after a crash. `0`: never.',
  }),
  TERSE_SECRET_KEY: setting({
    schema: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits (openssl rand -hex 32)')
      .optional(),
    default: undefined,
    unset: 'made once, in `secret.key` in the data folder',
    description:
      'The key that seals link passwords and signs cookies: 64 hexadecimal digits. Every node of one database needs the same.',
    secret: true,
  }),
} as const
