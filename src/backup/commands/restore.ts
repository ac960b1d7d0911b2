import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { formatTable, plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { formatBytes } from './format-bytes.ts'

/** A setting in a backup; the value of a secret is left out. */
type BackedUpSetting = { readonly name: string; readonly value: string | undefined }

export type RestoreOptions = {
  /** A backup's name; the newest when left out. */
  readonly at?: string
  readonly identity?: string
  /** The file with the public key that the backup must be signed by. */
  readonly signedBy?: string
  /** Decides about settings that the backup would write. */
  readonly acceptsSettings: (settings: readonly BackedUpSetting[]) => Promise<boolean>
}

type GivenOptions = Omit<RestoreOptions, 'acceptsSettings'> & {
  readonly list: boolean
  readonly acceptSettings: boolean
  readonly json?: true
}

/** The backup has settings that nobody accepted. */
const EXIT_NOT_ACCEPTED = 2

type Restore = {
  list(
    source: string,
    signedBy: string | undefined,
  ): Promise<
    readonly {
      readonly name: string
      readonly consistentAt: string
      readonly terse: string | null
      readonly storedBytes: number | null
      readonly state: string
      readonly isSigned: boolean | null
    }[]
  >
  restore(
    source: string,
    options: RestoreOptions,
  ): Promise<
    | {
        readonly dataDir: string
        readonly name: string
        readonly consistentAt: string
        readonly engine: 'sqlite' | 'postgres'
        readonly links: number | undefined
        readonly clicks: number | undefined
        readonly pendingClicks: number
      }
    | undefined
  >
}

export function restoreCommand(terminal: Terminal, { list, restore }: Restore): Command {
  return new Command('restore')
    .description('Restore a backup into an empty data folder. The service must not run.')
    .argument('<source>', 'where the backups are: a folder, or s3://bucket/prefix')
    .option('--at <name>', 'the backup to restore (default: the newest)')
    .option('--list', 'list the backups and restore none', false)
    .option(
      '--identity <file>',
      'the file of age-keygen to read encrypted backups (default: TERSE_BACKUP_IDENTITY_FILE)',
    )
    .option(
      '--signed-by <file>',
      'refuse a backup that the private key of this public key of Ed25519 has not signed',
    )
    .option(
      '--accept-settings',
      'write the settings (terse.env) that the backup has, without being asked',
      false,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('restore /mnt/backup/terse --list', 'restore /mnt/backup/terse'))
    .action(async (source: string, options: GivenOptions) => {
      if (options.list) {
        const backups = await list(source, options.signedBy)
        if (options.json) {
          terminal.out(plainJson(backups))
          return
        }
        const rows = backups.map((backup) => [
          backup.name,
          backup.consistentAt,
          backup.storedBytes === null ? '' : formatBytes(backup.storedBytes),
          backup.terse ?? '',
          backup.state,
          ...(backup.isSigned === null ? [] : [backup.isSigned ? 'yes' : 'no']),
        ])
        const headings = ['name', 'made at', 'size', 'version', 'state']
        if (options.signedBy !== undefined) headings.push('signed')
        terminal.out(formatTable(headings, rows))
        return
      }
      const acceptsSettings = settingsQuestion(terminal, options.acceptSettings)
      const report = await restore(source, { ...options, acceptsSettings })
      if (report === undefined) {
        terminal.err(
          'terse: Nothing was restored. Accept the settings with --accept-settings, or put your own terse.env into the data folder first: it is kept.',
        )
        process.exitCode = EXIT_NOT_ACCEPTED
        return
      }
      if (options.json) {
        terminal.out(plainJson(report))
        return
      }
      terminal.out(`Restored ${report.name} into ${report.dataDir}.`)
      if (options.signedBy !== undefined) terminal.out(`It is signed by ${options.signedBy}.`)
      terminal.out(`It contains everything up to ${report.consistentAt}.`)
      const parts = [
        ...(report.links === undefined ? [] : [`${report.links} links`]),
        ...(report.clicks === undefined ? [] : [`${report.clicks} counted clicks`]),
        `${report.pendingClicks} clicks that the service counts when it starts`,
      ]
      terminal.out(parts.join(', '))
      terminal.out(`Start the service: ${terseCommand('serve')}`)
    })
}

/** Shows the settings, and asks a person about them unless they are accepted already. */
function settingsQuestion(
  terminal: Terminal,
  isAccepted: boolean,
): RestoreOptions['acceptsSettings'] {
  return async (settings) => {
    terminal.err('The backup has settings, which decide what the service does and trusts:')
    for (const { name, value } of settings) {
      terminal.err(`  ${plainText(name)}${value === undefined ? '' : `=${plainText(value)}`}`)
    }
    return isAccepted || ((await terminal.confirm('Write them into the data folder?')) ?? false)
  }
}
