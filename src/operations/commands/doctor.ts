import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { Finding } from '../doctor/host-findings.ts'

const EXIT_PROBLEM = 1

/** Examines a host, or the whole instance if `host` is undefined. */
type Examine = (host: string | undefined) => Promise<readonly Finding[]>

export function doctorCommand(terminal: Terminal, examine: Examine): Command {
  return new Command('doctor')
    .description(
      'Check the instance, or the DNS of one host, and advise on each problem. Changes nothing.',
    )
    .argument('[host]', 'the domain to check')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExits with 1 when there is a problem.')
    .addHelpText('after', example('doctor', 'doctor go.example.com'))
    .action(async (host: string | undefined, options: { json?: true }) => {
      const findings = await examine(host)
      if (options.json) terminal.out(plainJson(findings))
      else {
        for (const { subject, state, text, advice } of findings) {
          terminal.out(`${state.padEnd(8)} ${subject.padEnd(11)} ${text}`)
          if (advice !== undefined) terminal.out(`${' '.repeat(20)} ${advice}`)
        }
      }
      if (findings.some((finding) => finding.state === 'problem')) process.exitCode = EXIT_PROBLEM
    })
}
