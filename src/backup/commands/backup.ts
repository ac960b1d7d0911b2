import { Command, InvalidArgumentError } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { parseRetention, type Retention } from '../retention.ts'
import { formatBytes } from './format-bytes.ts'

/** The options that a backup was called with; what is not given is as configured. */
export type BackupOptions = {
  readonly verify: boolean
  readonly keep?: Retention
  readonly recipient?: readonly string[]
  readonly identity?: string
  readonly signingKey?: string
  readonly takeOver: boolean
}

type Backup = (
  target: string | undefined,
  options: BackupOptions,
) => Promise<{
  readonly target: string
  readonly name: string
  readonly files: number
  readonly storedBytes: number
  readonly writtenBytes: number
  readonly isVerified: boolean
  readonly repaired: readonly { readonly block: string; readonly file: string }[]
  readonly removed: readonly string[]
}>

export function backupCommand(terminal: Terminal, backup: Backup): Command {
  return new Command('backup')
    .description(
      'Back up the data folder, whether or not its service runs. With PostgreSQL, dump the database after it.',
    )
    .argument('[target]', 'a folder, or s3://bucket/prefix (default: TERSE_BACKUP_TO)')
    .option('--verify', 'restore the backup into a temporary folder and compare it', false)
    .option(
      '--keep <list>',
      'remove older backups but the last of each of so many hours, days, weeks, months, such as 24h,14d,8w,12m (default: remove none)',
      parseKeep,
    )
    .option(
      '--recipient <age1…>',
      'encrypt to a recipient of age; may be repeated (default: TERSE_BACKUP_RECIPIENTS)',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option(
      '--identity <file>',
      'the file of age-keygen to verify an encrypted backup (default: TERSE_BACKUP_IDENTITY_FILE)',
    )
    .option(
      '--signing-key <file>',
      'sign the backup with this private key of Ed25519 (default: TERSE_BACKUP_SIGNING_KEY_FILE)',
    )
    .option('--take-over', 'use a target that has the backups of another data folder', false)
    .option('--json', 'print JSON')
    .addHelpText('after', example('backup /mnt/backup/terse --verify', 'backup s3://bucket/terse'))
    .action(
      async (target: string | undefined, { json, ...options }: BackupOptions & { json?: true }) => {
        const report = await backup(target, options)
        if (json) {
          terminal.out(plainJson(report))
          return
        }
        const stored = formatBytes(report.storedBytes)
        const written = formatBytes(report.writtenBytes)
        terminal.out(
          `${report.name}: ${report.files} files, ${stored}, of which ${written} new, in ${report.target}`,
        )
        terminal.out(report.isVerified ? 'Restored and compared: complete.' : 'Not verified.')
        for (const { block, file } of report.repaired) {
          terminal.out(`written again, because it was damaged: block ${block} of ${file}`)
        }
        for (const name of report.removed) terminal.out(`removed ${name}`)
      },
    )
}

function parseKeep(text: string): Retention {
  const retention = parseRetention(text)
  if (retention === undefined)
    throw new InvalidArgumentError('It must be a list such as 24h,14d,8w,12m.')
  return retention
}
