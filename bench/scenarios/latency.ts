import { runSteadyLoad, type SteadyLoadResult } from '../load/steady-load.ts'
import {
  bareContender,
  type Contender,
  nginxContender,
  terseContender,
} from '../servers/contender.ts'
import { createLinksFolder } from '../support/links-folder.ts'
import { alternate } from '../support/measure.ts'
import { usageOf } from '../support/process-usage.ts'
import type { Scenario, Target } from '../support/scenario.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { median, round } from '../support/statistics.ts'
import { CONNECTIONS, LINKS } from './conditions.ts'

const P99_BEYOND_NGINX_MAX_MS = 2
const STALL_MAX_MS = 20

const TRAFFIC = { kind: 'uniform', links: LINKS } as const

type Round = SteadyLoadResult & {
  readonly waitedShare: number
  readonly stallMs: number | undefined
}
type Entry = {
  readonly contender: Contender
  /** For servers whose event loop can be watched. */
  readonly node: ServerProcess | undefined
  readonly results: Round[]
}

/**
 * Runs at one rate for all: half of Terse's maximum. The bare server is nearly idle at that rate,
 * so its delays come from the machine.
 */
export const latency: Scenario = {
  name: 'latency',
  description: 'requests at a fixed rate, half of what Terse answers at saturation',
  async run({ generator, nginx, rounds, seconds }) {
    const terse = await terseContender('Terse', await createLinksFolder(LINKS))
    const bare = await bareContender()
    const theirs = nginx === undefined ? undefined : await nginxContender(nginx, LINKS)
    const entries: Entry[] = [
      { contender: terse, node: terse.server, results: [] },
      { contender: bare, node: bare.server, results: [] },
      ...(theirs === undefined ? [] : [{ contender: theirs, node: undefined, results: [] }]),
    ]
    const load = {
      traffic: TRAFFIC,
      connections: CONNECTIONS,
      seconds,
      status: 302,
    } as const
    const loads = entries.map(({ contender }) => ({ contender, load }))
    const [saturated = []] = await alternate(generator, loads, 1)
    const perSecond = Math.round(median(saturated.map((one) => one.perSecond)) / 2)

    for (let number = 1; number <= rounds; number += 1) {
      for (const entry of entries) entry.results.push(await runRound(entry, perSecond, seconds))
    }
    for (const { contender } of entries) await contender.stop()

    const [ourP99Ms = Number.NaN, , theirP99Ms] = entries.map(({ results }) => p99Ms(results))
    const [stallMs = Number.NaN] = entries.map(({ results }) => longestStallMs(results))
    const targets: Target[] = [
      { what: 'longest delay of the event loop, ms', value: stallMs, atMost: STALL_MAX_MS },
    ]
    if (theirP99Ms !== undefined) {
      const value = ourP99Ms - theirP99Ms
      targets.push({ what: "p99 beyond nginx's, ms", value, atMost: P99_BEYOND_NGINX_MAX_MS })
    }
    return {
      rows: entries.map(({ contender, results }) => ({
        server: contender.name,
        'requests/s': perSecond,
        'p50 ms': round(median(results.map((one) => one.p50Ms)), 2),
        'p99 ms': round(p99Ms(results), 2),
        'p99 ms of each round': results.map((one) => round(one.p99Ms, 2)).join(' '),
        'longest stall ms of each round': results
          .flatMap((one) => one.stallMs ?? [])
          .map((ms) => round(ms))
          .join(' '),
        'waited %': Math.round(median(results.map((one) => one.waitedShare)) * 100),
        'load late by p99 ms': round(median(results.map((one) => one.latenessP99Ms)), 2),
      })),
      targets,
      missing: nginx === undefined ? ['nginx is not installed'] : [],
    }
  },
}

/** Watches the event loop until the clicks are ingested. */
async function runRound(
  { contender, node }: Entry,
  perSecond: number,
  seconds: number,
): Promise<Round> {
  await node?.ask('watch')
  const before = usageOf(contender.server.pid)
  const result = await runSteadyLoad({
    port: contender.server.port,
    traffic: TRAFFIC,
    connections: CONNECTIONS,
    perSecond,
    seconds,
  })
  await contender.settle(result.answered)
  const after = usageOf(contender.server.pid)
  const answer = await node?.ask('stall')
  const waitedShare = (after.waitedMs - before.waitedMs) / (seconds * 1_000)
  return { ...result, waitedShare, stallMs: answer?.stallMs }
}

function p99Ms(results: readonly Round[]): number {
  return median(results.map((one) => one.p99Ms))
}

function longestStallMs(results: readonly Round[]): number {
  return Math.max(...results.map((one) => one.stallMs ?? 0))
}
