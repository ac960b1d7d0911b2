import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'

const EXIT_LEFT = 1

export type ReplayedJournal = {
  readonly id: string
  /**
   * `replayed`: all its clicks are counted. `in use`: a running process owns and counts it.
   * `unknown`: no node of this database is known to have written it.
   */
  readonly state: 'replayed' | 'in use' | 'unknown'
  /** The number of clicks that were not counted before. */
  readonly clicks: number
  /** How many of these are counted for no link, because their link does not exist in this database. */
  readonly withoutLink: number
  readonly damagedBytes: number
}

/**
 * Counts the clicks in the journals of a folder.
 *
 * @param includesUnknown whether to count journals that no node of this database is known to have
 *   written
 */
type Replay = (folder: string, includesUnknown: boolean) => Promise<readonly ReplayedJournal[]>

export function journalCommand(terminal: Terminal, replay: Replay): Command {
  const command = new Command('journal').description('Manage click journals.')

  command
    .command('replay')
    .description(
      'Count the clicks in the journals of a lost node, while other nodes run. Repeating it counts no click twice; the files are kept.',
    )
    .argument('<folder>', 'the data folder of that node, or a journal in it')
    .option('--force', 'also count journals that no node of this database is known to have written')
    .option('--json', 'print JSON')
    .addHelpText('after', example('journal replay /mnt/old-node/data'))
    .action(async (folder: string, options: { force?: true; json?: true }) => {
      const journals = await replay(folder, options.force ?? false)
      terminal.out(
        options.json
          ? plainJson(journals)
          : formatTable(
              ['JOURNAL', 'STATE', 'NEW CLICKS', 'OF NO LINK', 'DAMAGED BYTES'],
              journals.map(({ id, state, clicks, withoutLink, damagedBytes }) => [
                id,
                state,
                String(clicks),
                String(withoutLink),
                String(damagedBytes),
              ]),
            ),
      )
      if (journals.some(({ state }) => state === 'unknown')) {
        terminal.err(
          'terse: no node of this database is known to have written the unknown journals. To count them anyway, use --force.',
        )
      }
      if (journals.some(({ state }) => state !== 'replayed')) process.exitCode = EXIT_LEFT
    })

  return command
}
