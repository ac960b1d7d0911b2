import { runLoad } from './load.ts'
import { usageOf } from './process-usage.ts'
import type { MeasuredServer } from './server-process.ts'
import { median, quantile, round } from './statistics.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
/** Requests before the first round: V8 continues to compile for about as long. */
const WARM_UP = 20_000
const WARM_UP_CONNECTIONS = 16

type Load = { readonly connections: number; readonly count: number }
type Round = { cpuMicros: number; perSecond: number; latenciesMs: readonly number[] }

export type Comparison = {
  readonly connections: number
  /** Terse's CPU time per request divided by the baseline's; medians of the rounds. */
  readonly ratio: number
  /** Rows of the table. */
  readonly row: Readonly<Record<string, unknown>>
}

/**
 * Measures Terse and a baseline under the same loads, in rounds that alternate between the two, so
 * that a change in the machine's speed affects both.
 */
export async function compareRounds(options: {
  terse: MeasuredServer
  baseline: MeasuredServer
  loads: readonly Load[]
  /** The required status of every request. */
  status: number
  request: (number: number) => string
}): Promise<Comparison[]> {
  const { terse, baseline, status, request } = options

  async function measure(server: MeasuredServer, load: Load): Promise<Round> {
    const before = usageOf(server.pid)
    const { seconds, latenciesMs } = await runLoad({ port: server.port, ...load, status, request })
    const after = usageOf(server.pid)
    return {
      cpuMicros: (after.cpuMicros - before.cpuMicros) / load.count,
      perSecond: load.count / seconds,
      latenciesMs,
    }
  }

  async function compare(load: Load): Promise<Comparison> {
    const ours: Round[] = []
    const theirs: Round[] = []
    const ratios: number[] = []
    for (let number = 0; number < ROUNDS; number += 1) {
      const our = await measure(terse, load)
      const their = await measure(baseline, load)
      ours.push(our)
      theirs.push(their)
      ratios.push(round(our.cpuMicros / their.cpuMicros, 2))
    }
    const cpuOf = (rounds: readonly Round[]) => median(rounds.map(({ cpuMicros }) => cpuMicros))
    const latencies = ours.flatMap(({ latenciesMs }) => latenciesMs)
    const ratio = cpuOf(ours) / cpuOf(theirs)
    return {
      connections: load.connections,
      ratio,
      row: {
        connections: load.connections,
        requests: load.count,
        'Terse CPU µs': round(cpuOf(ours)),
        'baseline CPU µs': round(cpuOf(theirs)),
        ratio: round(ratio, 2),
        'ratio of each round': ratios.join(' '),
        'requests/s': Math.round(median(ours.map(({ perSecond }) => perSecond))),
        'median ms': round(median(latencies), 2),
        'p95 ms': round(quantile(latencies, 0.95), 2),
      },
    }
  }

  const warmUp = { connections: WARM_UP_CONNECTIONS, count: WARM_UP }
  for (const server of [terse, baseline]) await measure(server, warmUp)
  const comparisons: Comparison[] = []
  for (const load of options.loads) comparisons.push(await compare(load))
  return comparisons
}
