import { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Terminal } from '../terminal.ts'

const EXIT_PROBLEM = 1

export function doctorCommand(terminal: Terminal): Command {
  return new Command('doctor')
    .description('Look at the instance and say what to do about what is wrong. Changes nothing.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  terse doctor\n\nExits with 1 when there is a problem.')
    .action(async (options: { json?: true }) => {
      const { diagnose } = await import('../../diagnose.ts')
      const findings = await diagnose(readConfig(), systemClock())
      if (options.json) terminal.out(JSON.stringify(findings, null, 2))
      else {
        for (const { subject, state, text, advice } of findings) {
          terminal.out(`${state.padEnd(8)} ${subject.padEnd(9)} ${text}`)
          if (advice !== undefined) terminal.out(`${' '.repeat(18)} ${advice}`)
        }
      }
      if (findings.some((finding) => finding.state === 'problem')) process.exitCode = EXIT_PROBLEM
    })
}
