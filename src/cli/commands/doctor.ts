import { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { diagnose } from '../../diagnose.ts'
import { diagnoseHost } from '../../diagnose-host.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Terminal } from '../terminal.ts'

const EXIT_PROBLEM = 1

export function doctorCommand(terminal: Terminal): Command {
  return new Command('doctor')
    .description(
      'Look at the instance, or at the DNS of one host, and say what to do about what is wrong. Changes nothing.',
    )
    .argument('[host]', 'a domain to look at')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  terse doctor\n  terse doctor go.example.com\n\nExits with 1 when there is a problem.',
    )
    .action(async (host: string | undefined, options: { json?: true }) => {
      const config = readConfig()
      const findings =
        host === undefined
          ? await diagnose(config, systemClock())
          : await diagnoseHost(config, host, systemClock())
      if (options.json) terminal.out(JSON.stringify(findings, null, 2))
      else {
        for (const { subject, state, text, advice } of findings) {
          terminal.out(`${state.padEnd(8)} ${subject.padEnd(11)} ${text}`)
          if (advice !== undefined) terminal.out(`${' '.repeat(20)} ${advice}`)
        }
      }
      if (findings.some((finding) => finding.state === 'problem')) process.exitCode = EXIT_PROBLEM
    })
}
