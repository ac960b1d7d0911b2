import { Command } from 'commander'
import { openConfig } from '../../app/cli/open-config.ts'
import { example } from '../../platform/cli/example.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { Finding } from '../doctor/finding.ts'

const EXIT_PROBLEM = 1

export function doctorCommand(terminal: Terminal): Command {
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

/** The commands are all loaded for each of them; what looks around is not, before it is asked. */
async function look(host: string | undefined): Promise<readonly Finding[]> {
  const { config } = openConfig()
  if (host === undefined) {
    const { diagnoseInstance } = await import('../doctor/diagnose-instance.ts')
    return diagnoseInstance(config, systemClock())
  }
  const { diagnoseHost } = await import('../doctor/diagnose-host.ts')
  return diagnoseHost(config, host, systemClock())
}
