import { z } from 'zod'
import { flag, recipients, retention, setting, timeSpan } from '../setting-schemas.ts'

/** Where backups go, how often they are made, and which are kept. */
export const BACKUP_SETTINGS = {
  TERSE_BACKUP_TO: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'no backups are made by the service',
    description:
      'Where the service stores its backups: a folder, on another disk and not in the data folder, or a bucket such as `s3://bucket/prefix`. `npx terse backup` uses it too, if it names no other place. Each data folder needs a place of its own.',
    path: true,
  }),
  TERSE_BACKUP_EVERY: setting({
    schema: timeSpan,
    default: '6h',
    description: 'The time between two backups, such as `30m`, `6h` or `1d`.',
  }),
  TERSE_BACKUP_KEEP: setting({
    schema: retention,
    default: '24h,14d,8w,12m',
    description:
      'Which backups are kept: the last one of each of so many hours (`h`), days (`d`), weeks (`w`) and months (`m`) in UTC. A period in which none was made does not count. The newest one and the last verified one always are. `all`: none is removed.',
  }),
  TERSE_BACKUP_VERIFY: setting({
    schema: flag('on', 'off'),
    default: 'on',
    description:
      'Whether the service restores each of its backups into a temporary folder, with SQLite, and compares it. The folder is beside the backups, or for a bucket in the data folder, and takes as much room as the data.',
  }),
  TERSE_BACKUP_RECIPIENTS: setting({
    schema: recipients,
    default: '',
    description:
      'Recipients of [age](https://age-encryption.org), separated by commas, such as `age1…`: backups are encrypted so that only they can read them. When empty, backups are not encrypted.',
  }),
  TERSE_BACKUP_IDENTITY_FILE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'none',
    description:
      'The file of `age-keygen` with which encrypted backups can be read, to verify and to restore them.',
    path: true,
  }),
  TERSE_BACKUP_SIGNING_KEY_FILE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'backups are not signed',
    description:
      'The file with a private key of Ed25519 (PEM, as `openssl genpkey -algorithm ed25519` writes it) by which backups are signed. `restore --signed-by` demands the signature.',
    path: true,
  }),
  TERSE_S3_ENDPOINT: setting({
    schema: z
      .string()
      .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
        message: 'must be an http:// or https:// address',
      })
      .optional(),
    default: undefined,
    unset: 'none',
    description:
      'The address of the S3-compatible service of an `s3://` place, such as `https://s3.eu-central-1.amazonaws.com`. Its buckets are addressed in the path.',
  }),
  TERSE_S3_REGION: setting({
    schema: z.string().min(1),
    default: 'us-east-1',
    description: 'The region of that service; many ignore it.',
  }),
  TERSE_S3_ACCESS_KEY_ID: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'none',
    description: 'The access key for it.',
  }),
  TERSE_S3_SECRET_ACCESS_KEY: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'none',
    description: 'The secret of that access key.',
    secret: true,
  }),
} as const
