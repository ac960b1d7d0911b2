import { setTimeout as sleep } from 'node:timers/promises'
import { startAttackers, startScene } from '../test/fault/attack/assault.ts'
import { startBystander } from '../test/fault/attack/bystander.ts'
import { SQLITE } from '../test/support/engines.ts'
import { leaveServerCore, onCores, SERVER_CORE } from './support/cores.ts'
import { usageOf } from './support/process-usage.ts'
import { report } from './support/report.ts'
import { quantile, round } from './support/statistics.ts'

/**
 * Measures what a bystander's visitors notice while ten hostile tenants and a thousand strangers
 * attack the service, and checks that memory stays bounded and every count exact. The service has
 * one core; the attackers and the bystander share the other, where the bystander has priority.
 */
const MINUTES = Number(process.env.ATTACK_MINUTES ?? 10)
const STRANGERS = Number(process.env.ATTACK_STRANGERS ?? 1_000)
/** The strangers' attacks to run without the others and without tenants, separated by commas. */
const ONLY = process.env.ATTACK_ONLY?.split(',')
/** The longest pause of a stranger between two actions, which themselves last up to 10 s. */
const REST_MS_MAX = 20_000
const P99_MS_MAX = 50
/** What the operating guide recommends for a public instance. */
const MEMORY_MIB_MAX = 1_024
const SAMPLE_MS = 1_000
/** Time for the clicks of the last second to be counted. */
const COUNTED_WITHIN_MS = 60_000

leaveServerCore()
const place = await SQLITE.createPlace()
const [program, args] = onCores([SERVER_CORE], '', [])
const within = [program, ...args].filter((word) => word !== '')
const scene = await startScene(place, { within })
const pid = scene.service.child.pid as number
const idleMib = usageOf(pid).residentMib
const bystander = startBystander({ ...scene.target, key: scene.bystander.key })
const attackers = startAttackers({
  target: scene.target,
  strangers: STRANGERS,
  restMsMax: REST_MS_MAX,
  ...(ONLY !== undefined && { attacks: ONLY, withTenants: false }),
})

let memoryMib = 0
const endsAtMs = performance.now() + MINUTES * 60_000
while (performance.now() < endsAtMs && scene.service.child.exitCode === null) {
  await sleep(SAMPLE_MS)
  memoryMib = Math.max(memoryMib, usageOf(pid).residentMib)
}
const attack = await attackers.stop()
await bystander.stop()
const { latenciesMs, redirects, failures } = bystander.tally
const wrongCounts = await countsThatDiffer()
const cpuSeconds = usageOf(pid).cpuMicros / 1e6
await scene.stop()
await place.remove()

/**
 * Compares what the service counted with the redirects that arrived, and returns the links whose
 * counts are not equal in time.
 */
async function countsThatDiffer(): Promise<string[]> {
  const expected = [
    { name: 'bystander', id: scene.bystander.id, redirects },
    { name: 'flooded', id: scene.flooded.id, redirects: attack.floodRedirects },
  ]
  const giveUpAtMs = performance.now() + COUNTED_WITHIN_MS
  for (;;) {
    const differing: string[] = []
    for (const { name, id, redirects } of expected) {
      const counted = await countOf(id)
      if (counted !== redirects) differing.push(`${name}: ${counted} counted of ${redirects}`)
    }
    if (differing.length === 0 || performance.now() > giveUpAtMs) return differing
    await sleep(SAMPLE_MS)
  }
}

async function countOf(id: string): Promise<number | string> {
  try {
    const { body } = await scene.api.get(`/links/${id}/clicks`)
    return body.total.clicks + body.total.bots
  } catch (error) {
    // A connection that was idle during the attack may have been closed. The next request opens
    // another.
    return String(error)
  }
}

function textOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}

const p99 = round(quantile(latenciesMs, 0.99), 1)
report(
  'attack',
  [
    {
      minutes: MINUTES,
      strangers: STRANGERS,
      visits: latenciesMs.length,
      'median ms': round(quantile(latenciesMs, 0.5), 1),
      'p99 ms': p99,
      'p99.9 ms': round(quantile(latenciesMs, 0.999), 1),
      'longest ms': round(
        latenciesMs.reduce((longest, ms) => Math.max(longest, ms), 0),
        0,
      ),
      'RSS MiB, idle': round(idleMib, 0),
      'RSS MiB, most': round(memoryMib, 0),
      'service CPU s': round(cpuSeconds, 0),
      'flood redirects': attack.floodRedirects,
    },
    ...Object.entries(attack.actions).map(([name, actions]) => ({
      attack: name,
      actions,
      answers: textOf(attack.statuses[name] ?? {}),
    })),
  ],
  [
    ...(p99 > P99_MS_MAX ? [`p99 of ${p99} ms`] : []),
    ...(memoryMib > MEMORY_MIB_MAX ? [`${round(memoryMib, 0)} MiB`] : []),
    ...(Object.keys(failures).length > 0 ? [`bystander: ${textOf(failures)}`] : []),
    ...wrongCounts,
  ],
)
