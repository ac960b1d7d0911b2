import { Command } from 'commander'
import { example } from '../../platform/cli/example.ts'
import { plainJson } from '../../platform/cli/plain-text.ts'
import { formatTable, type Terminal } from '../../platform/cli/terminal.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { formatBytes } from './format-bytes.ts'

type RestoreOptions = {
  /** A backup's name; the newest when left out. */
  readonly at?: string
  readonly identity?: string
}

type Restore = {
  list(source: string): Promise<
    readonly {
      readonly name: string
      readonly consistentAt: string
      readonly terse: string | null
      readonly storedBytes: number | null
      readonly state: string
    }[]
  >
  restore(
    source: string,
    options: RestoreOptions,
  ): Promise<{
    readonly dataDir: string
    readonly name: string
    readonly consistentAt: string
    readonly engine: 'sqlite' | 'postgres'
    readonly links: number | undefined
    readonly clicks: number | undefined
    readonly pendingClicks: number
  }>
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
    .option('--json', 'print JSON')
    .addHelpText('after', example('restore /mnt/backup/terse --list', 'restore /mnt/backup/terse'))
    .action(async (source: string, options: RestoreOptions & { list: boolean; json?: true }) => {
      if (options.list) {
        const backups = await list(source)
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
        ])
        terminal.out(formatTable(['name', 'made at', 'size', 'version', 'state'], rows))
        return
      }
      const report = await restore(source, options)
      if (options.json) {
        terminal.out(plainJson(report))
        return
      }
      terminal.out(`Restored ${report.name} into ${report.dataDir}.`)
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
