import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Api, apiClient, expectStatus } from '../../test/support/api.ts'
import { eventually } from '../../test/support/eventually.ts'
import { freePort } from '../../test/support/free-port.ts'
import { makeInstance } from '../../test/support/make-instance.ts'
import { findWebhookSender } from '../../test/support/webhook-sender.ts'
import { runSteadyLoad, type SteadyLoadResult } from '../load/steady-load.ts'
import type { ReceiverStats } from '../servers/webhook-receiver.ts'
import { endWithThisProcess } from '../support/children.ts'
import { PAIR_CORES } from '../support/cores.ts'
import { createLinksFolder } from '../support/links-folder.ts'
import { usageOf } from '../support/process-usage.ts'
import { profilingOptions } from '../support/profiling.ts'
import type { Scenario } from '../support/scenario.ts'
import { startTerse } from '../support/server-process.ts'
import { median, round } from '../support/statistics.ts'

const ENDPOINTS = Number(process.env.BENCH_ENDPOINTS ?? 1_000)
const EVENTS_PER_SECOND = Number(process.env.BENCH_EVENTS ?? 10)
/** A workspace has no more endpoints. */
const ENDPOINTS_PER_WORKSPACE = 100
const WORKSPACES = Math.ceil(ENDPOINTS / ENDPOINTS_PER_WORKSPACE)
const LINKS = 10_000
const REDIRECTS_PER_SECOND = 500
const CONNECTIONS = 32
/** As if the endpoints were 16 machines. */
const HOSTS = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 1}`)
/** No call for so long: the rest waits for a further attempt. */
const SILENCE_MS_MAX = 10_000
const POLL_MS = 200
const RATIO_MAX = 1.1

/** One load of redirects, with the calls that were made for its events. */
type Turn = {
  readonly redirects: SteadyLoadResult
  readonly calls: ReceiverStats
  readonly callsPerSecond: number
  readonly senderCpuMicros: number
  /** Calls that wait for a further attempt, after one that failed. */
  readonly late: number
}

/**
 * Events are made in both kinds of turns, so that the difference is what their delivery costs: without calls, in
 * workspaces that have no endpoint.
 */
export const webhooks: Scenario = {
  name: 'webhooks',
  description: `${ENDPOINTS} endpoints with ${EVENTS_PER_SECOND} events a second each, and redirects meanwhile`,
  async run({ rounds, seconds }) {
    const stage = await openStage()
    const quiet: Turn[] = []
    const busy: Turn[] = []
    try {
      for (let number = 0; number <= rounds; number += 1) {
        const turns = [
          await stage.turn('quiet', seconds),
          await stage.turn('busy', seconds),
        ] as const
        // V8 compiles during the first round.
        if (number === 0) continue
        quiet.push(turns[0])
        busy.push(turns[1])
      }
    } finally {
      await stage.stop()
    }
    const offered = ENDPOINTS * EVENTS_PER_SECOND
    const ratioOf = (field: 'p25Ms' | 'p50Ms' | 'p75Ms') =>
      median(
        busy.map(({ redirects }, nth) => redirects[field] / (quiet[nth]?.redirects[field] ?? 0)),
      )
    return {
      rows: [summarize('without', quiet), summarize('with', busy)],
      targets: [
        {
          what: `calls a second of ${offered} offered`,
          value: median(busy.map(({ callsPerSecond }) => callsPerSecond)),
          // The last calls arrive after the events have ended.
          atLeast: offered * 0.9,
        },
        {
          what: 'lower quartile of redirects, by that without',
          value: ratioOf('p25Ms'),
          atMost: RATIO_MAX,
        },
        {
          what: 'median of redirects, by that without',
          value: ratioOf('p50Ms'),
          atMost: RATIO_MAX,
        },
        {
          what: 'upper quartile of redirects, by that without',
          value: ratioOf('p75Ms'),
          atMost: RATIO_MAX,
        },
      ],
      missing: [],
    }
  },
}

function summarize(calls: string, turns: readonly Turn[]) {
  const of = (value: (turn: Turn) => number) => median(turns.map(value))
  return {
    calls,
    'calls/s': Math.round(of((turn) => turn.callsPerSecond)),
    late: turns.reduce((sum, { late }) => sum + late, 0),
    'lag p50 ms': of((turn) => turn.calls.lagP50Ms),
    'lag p95 ms': of((turn) => turn.calls.lagP95Ms),
    'CPU µs a call': round(of((turn) => turn.senderCpuMicros / Math.max(1, turn.calls.calls))),
    'redirect p25 ms': round(
      of(({ redirects }) => redirects.p25Ms),
      2,
    ),
    'p50 ms': round(
      of(({ redirects }) => redirects.p50Ms),
      2,
    ),
    'p75 ms': round(
      of(({ redirects }) => redirects.p75Ms),
      2,
    ),
    'p99 ms': round(
      of(({ redirects }) => redirects.p99Ms),
      2,
    ),
    'load late p99 ms': round(
      of(({ redirects }) => redirects.latenessP99Ms),
      2,
    ),
  }
}

async function openStage() {
  const dataDir = await createLinksFolder(LINKS)
  const names = Array.from({ length: WORKSPACES }, (_, index) => index)
  const tokens = await createTokens(dataDir, [
    ...names.map((name) => `busy-${name}`),
    ...names.map((name) => `quiet-${name}`),
  ])
  const receiver = await startReceiver()
  const terse = await startTerse(
    { TERSE_DATA_DIR: dataDir, TERSE_WEBHOOK_ALLOW: '127.0.0.0/8' },
    profilingOptions(),
    { cores: PAIR_CORES },
  )
  const apis = tokens.map((token) => apiClient(`http://127.0.0.1:${terse.port}`, token))
  const workspaces = { busy: apis.slice(0, WORKSPACES), quiet: apis.slice(WORKSPACES) }
  for (let nth = 0; nth < ENDPOINTS; nth += 1) {
    const url = `http://${HOSTS[nth % HOSTS.length]}:${receiver.port}/${nth}`
    const api = workspaces.busy[nth % WORKSPACES] as Api
    expectStatus(await api.post('/webhooks', { url, events: ['link.created'] }), 201)
  }
  const sender = await eventually(async () => {
    const found = findWebhookSender(terse.pid)
    if (found === undefined) throw new Error('no process sends webhooks')
    return found
  })
  return {
    async turn(kind: 'busy' | 'quiet', seconds: number): Promise<Turn> {
      await receiver.clear()
      const before = usageOf(sender)
      const startedMs = performance.now()
      const load = { traffic: { kind: 'uniform', links: LINKS }, connections: CONNECTIONS } as const
      const [redirects, events] = await Promise.all([
        runSteadyLoad({ ...load, port: terse.port, perSecond: REDIRECTS_PER_SECOND, seconds }),
        makeEvents(workspaces[kind], seconds),
      ])
      const expected = kind === 'busy' ? (events * ENDPOINTS) / WORKSPACES : 0
      const calls = await receiver.until(expected)
      const { lastAtMs } = calls
      const tookSeconds = (lastAtMs - startedMs) / 1_000
      return {
        ...{ redirects, calls, late: expected - calls.calls },
        callsPerSecond: expected === 0 ? 0 : calls.calls / tookSeconds,
        senderCpuMicros: usageOf(sender).cpuMicros - before.cpuMicros,
      }
    },
    async stop() {
      await terse.stop()
      receiver.stop()
    },
  }
}

/** Makes links in all workspaces, evenly in time. Returns how many were made. */
async function makeEvents(apis: readonly Api[], seconds: number): Promise<number> {
  const link = { domain: 'localhost', url: 'https://example.com/' }
  const body = { action: 'create', links: Array(EVENTS_PER_SECOND).fill(link) }
  const startedMs = performance.now()
  const made: Promise<number>[] = []
  for (let nth = 0; nth < seconds * apis.length; nth += 1) {
    await sleep(Math.max(0, startedMs + (nth * 1_000) / apis.length - performance.now()))
    const api = apis[nth % apis.length] as Api
    made.push(
      api.post('/links/bulk', body).then((answer) => expectStatus(answer, 200).body.succeeded),
    )
  }
  return (await Promise.all(made)).reduce((sum, count) => sum + count, 0)
}

async function createTokens(dataDir: string, names: readonly string[]): Promise<string[]> {
  const secrets: string[] = []
  await makeInstance({ TERSE_DATA_DIR: dataDir }, async ({ workspaces, tokens }) => {
    for (const name of names) {
      const { id } = await workspaces.ensure(commandLine, name)
      const token = { name: 'bench', scopes: SCOPES, expiresAt: null }
      secrets.push((await tokens.create(commandLine(id), token)).secret)
    }
  })
  return secrets
}

/** Starts the receiver on the core of the load. */
async function startReceiver() {
  const port = await freePort()
  const child = fork(
    new URL('../servers/webhook-receiver.ts', import.meta.url),
    [String(port), ...HOSTS],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  )
  endWithThisProcess(child)
  if (child.stdout !== null) await once(child.stdout, 'data')
  const ask = async (method: string): Promise<ReceiverStats> =>
    (await fetch(`http://127.0.0.1:${port}/`, { method })).json() as Promise<ReceiverStats>
  return {
    port,
    clear: () => ask('DELETE'),
    /** Waits for calls, until they have come or no more come. */
    async until(count: number): Promise<ReceiverStats & { readonly lastAtMs: number }> {
      let stats = await ask('GET')
      let lastAtMs = performance.now()
      while (stats.calls < count && performance.now() - lastAtMs < SILENCE_MS_MAX) {
        await sleep(POLL_MS)
        const next = await ask('GET')
        if (next.calls > stats.calls) lastAtMs = performance.now()
        stats = next
      }
      return { ...stats, lastAtMs }
    },
    stop: () => void child.kill(),
  }
}
