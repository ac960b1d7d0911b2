import assert from 'node:assert/strict'
import { visit } from '../../test/support/visit.ts'
import type { Generator } from '../load/generator.ts'
import type { LoadResult, LoadSpec } from '../load/load-spec.ts'
import { HOST, MISSING_PREFIX, pathOf } from '../load/traffic.ts'
import type { Contender } from '../servers/contender.ts'
import { usageOf } from './process-usage.ts'
import { median, round } from './statistics.ts'

/** Answers that are compared completely before each load. */
const SAMPLE = 100

type Load = Omit<LoadSpec, 'port' | 'seed'>

type Entry = {
  readonly contender: Contender
  readonly load: Load
  /** The duration of each load when a round does not set its own. */
  readonly warmUpSeconds?: number
}

export type Measurement = LoadResult & {
  /** User and system time of the server's processes per request. */
  readonly cpuMicros: number
  /** The share of the load's duration for which the server's threads waited for a core. */
  readonly waitedShare: number
  readonly residentMib: number
}

/**
 * Measures one load on one server, including all work of the server until every click is counted.
 */
async function measure(
  generator: Generator,
  contender: Contender,
  load: Load,
  seed: number,
): Promise<Measurement> {
  const { server } = contender
  const checked = await checkSample(contender, load)
  const before = usageOf(server.pid)
  const result = await generator.run({ ...load, port: server.port, seed })
  await contender.settle(load.status === 302 ? checked + result.answered : 0)
  const after = usageOf(server.pid)
  return {
    ...result,
    cpuMicros: (after.cpuMicros - before.cpuMicros) / result.answered,
    waitedShare: (after.waitedMs - before.waitedMs) / (load.seconds * 1_000),
    residentMib: after.residentMib,
  }
}

/**
 * Loads the servers in turn, round by round, so that a change in the machine's speed affects all.
 */
export async function alternate(
  generator: Generator,
  entries: readonly Entry[],
  rounds: number,
): Promise<Measurement[][]> {
  for (const { contender, load, warmUpSeconds = load.seconds } of entries) {
    await measure(generator, contender, { ...load, seconds: warmUpSeconds }, 0)
  }
  const results: Measurement[][] = entries.map(() => [])
  for (let number = 1; number <= rounds; number += 1) {
    for (const [index, { contender, load }] of entries.entries()) {
      results[index]?.push(await measure(generator, contender, load, number))
    }
  }
  return results
}

export function medianCpu(measurements: readonly Measurement[]): number {
  return median(measurements.map(({ cpuMicros }) => cpuMicros))
}

/** Medians of the rounds, for the table. */
export function summarize(name: string, measurements: readonly Measurement[]) {
  const of = (field: keyof Measurement) => median(measurements.map((one) => one[field]))
  return {
    server: name,
    'CPU µs': round(of('cpuMicros'), 2),
    'requests/s': Math.round(of('perSecond')),
    'p50 ms': round(of('p50Ms'), 2),
    'p99 ms': round(of('p99Ms'), 2),
    'waited %': Math.round(of('waitedShare') * 100),
    'RSS MiB': Math.round(of('residentMib')),
    'CPU µs of each round': measurements.map(({ cpuMicros }) => round(cpuMicros, 2)).join(' '),
  }
}

/** @returns how many redirects were requested */
async function checkSample({ server, destinationOf }: Contender, load: Load): Promise<number> {
  for (let count = 0; count < SAMPLE; count += 1) {
    const link = Math.ceil(Math.random() * load.traffic.links)
    const path = load.status === 302 ? pathOf(link) : MISSING_PREFIX + link
    const { status, headers } = await visit(server.port, path, { host: HOST })
    assert.equal(status, load.status, path)
    if (load.status === 302) assert.equal(headers.location, destinationOf(link), path)
  }
  return load.status === 302 ? SAMPLE : 0
}
