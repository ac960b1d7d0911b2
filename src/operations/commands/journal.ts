import { Command } from 'commander'
import { withInstance } from '../../app/cli/with-instance.ts'
import { example } from '../../platform/cli/example.ts'
import { formatTable, type Terminal } from '../../platform/cli/terminal.ts'

const EXIT_LEFT = 1

export function journalCommand(terminal: Terminal): Command {
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
      const { replayJournals } = await import('../../app/instance/replay.ts')
      const journals = await withInstance((instance, { config, log }) =>
        replayJournals(config, instance, folder, {
          takesUnknown: options.force ?? false,
          onError: (error) => log.warn({ err: error }, 'a journal is not wholly in order'),
        }),
      )
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
