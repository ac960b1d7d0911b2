import { Command } from 'commander'
import { example } from '../../platform/cli/example.ts'
import { formatTable, type Terminal } from '../../platform/cli/terminal.ts'

const EXIT_LEFT = 1

export type ReplayedJournal = {
  readonly id: string
  /**
   * `replayed`: all of it is counted now. `in use`: a running process has it, and counts it.
   * `unknown`: no node of this database has written it.
   */
  readonly state: 'replayed' | 'in use' | 'unknown'
  /** Those that had not been counted before. */
  readonly clicks: number
  readonly damagedBytes: number
}

/**
 * Counts the clicks in the journals of a folder.
 *
 * @param takesUnknown whether to count those that no node of this database is known to have written
 */
type Replay = (folder: string, takesUnknown: boolean) => Promise<readonly ReplayedJournal[]>

export function journalCommand(terminal: Terminal, replay: Replay): Command {
  const command = new Command('journal').description('Look after the journals of clicks.')

  command
    .command('replay')
    .description(
      'Count the clicks that a node which is gone has left, beside running nodes. Each counts once, however often this is done; the files stay.',
    )
    .argument('<folder>', 'the data folder of that node, or a journal in it')
    .option('--force', 'also journals that no node of this database is known to have written')
    .option('--json', 'print JSON')
    .addHelpText('after', example('journal replay /mnt/old-node/data'))
    .action(async (folder: string, options: { force?: true; json?: true }) => {
      const journals = await replay(folder, options.force ?? false)
      terminal.out(
        options.json
          ? JSON.stringify(journals, null, 2)
          : formatTable(
              ['JOURNAL', 'STATE', 'NEW CLICKS', 'DAMAGED BYTES'],
              journals.map(({ id, state, clicks, damagedBytes }) => [
                id,
                state,
                String(clicks),
                String(damagedBytes),
              ]),
            ),
      )
      if (journals.some(({ state }) => state === 'unknown')) {
        terminal.err(
          'terse: no node of this database is known to have written the unknown ones. If you know better: --force',
        )
      }
      if (journals.some(({ state }) => state !== 'replayed')) process.exitCode = EXIT_LEFT
    })

  return command
}
