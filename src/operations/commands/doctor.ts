import { Command } from 'commander'
import { example } from '../../platform/cli/example.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import type { Finding } from '../doctor/finding.ts'

const EXIT_PROBLEM = 1

/** Looks at a host, or at the whole instance without one. */
type Look = (host: string | undefined) => Promise<readonly Finding[]>

export function doctorCommand(terminal: Terminal, look: Look): Command {
  return new Command('doctor')
    .description(
      'Look at the instance, or at the DNS of one host, and say what to do about what is wrong. Changes nothing.',
    )
    .argument('[host]', 'a domain to look at')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExits with 1 when there is a problem.')
    .addHelpText('after', example('doctor', 'doctor go.example.com'))
    .action(async (host: string | undefined, options: { json?: true }) => {
      const findings = await look(host)
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
