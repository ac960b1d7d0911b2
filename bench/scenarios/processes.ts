import { runCli } from '../../test/support/run-cli.ts'
import { terseContender } from '../servers/contender.ts'
import { PAIR_CORES } from '../support/cores.ts'
import { createLinksFolder } from '../support/links-folder.ts'
import { alternate, medianCpu, summarize } from '../support/measure.ts'
import type { Scenario } from '../support/scenario.ts'
import { CONNECTIONS, LINKS } from './conditions.ts'

const PER_CORE_MIN = 0.85

/**
 * Requests per second of CPU time are what a core can serve. With a spare core for the load, wall
 * time would show the same; with two cores in total, the load takes its share from the servers.
 */
export const processes: Scenario = {
  name: 'processes',
  description: 'two and four processes on two cores, beside one',
  async run({ generator, rounds, seconds }) {
    const { stdout } = await runCli(['serve', '--help'], {})
    if (!stdout.includes('--processes')) {
      return { rows: [], targets: [], missing: ['terse serve has no --processes yet'] }
    }
    const load = {
      traffic: { kind: 'uniform', links: LINKS },
      connections: CONNECTIONS,
      seconds,
      status: 302,
    } as const
    const start = async (count: number) =>
      terseContender(`${count} of Terse`, await createLinksFolder(LINKS), {
        args: ['--processes', String(count)],
        cores: PAIR_CORES,
      })
    const contenders = [await start(1), await start(2), await start(4)]
    const entries = contenders.map((contender) => ({ contender, load }))
    const [one = [], two = [], four = []] = await alternate(generator, entries, rounds)
    for (const contender of contenders) await contender.stop()
    return {
      rows: [
        summarize('one process', one),
        summarize('two processes', two),
        // For information: on two cores they compete with each other.
        summarize('four processes', four),
      ],
      targets: [
        {
          what: 'requests for a second of processor time of two, by those of one process',
          value: medianCpu(one) / medianCpu(two),
          atLeast: PER_CORE_MIN,
        },
      ],
      missing: [],
    }
  },
}
