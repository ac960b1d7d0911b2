import { findGenerator } from './load/generator.ts'
import { conversions } from './scenarios/conversions.ts'
import { creates } from './scenarios/creates.ts'
import { latency } from './scenarios/latency.ts'
import { linksAsCode } from './scenarios/links-as-code.ts'
import { processes } from './scenarios/processes.ts'
import { redirect } from './scenarios/redirect.ts'
import { rules } from './scenarios/rules.ts'
import { startup } from './scenarios/startup.ts'
import { webhooks } from './scenarios/webhooks.ts'
import { zipf } from './scenarios/zipf.ts'
import { nginxVersion } from './servers/nginx.ts'
import { leaveServerCore, PINNING } from './support/cores.ts'
import { printOutcome, reportOutcomes } from './support/report.ts'
import type { Bench, Outcome, Scenario } from './support/scenario.ts'
import { findTool } from './support/tools.ts'

/**
 * Measures what the README and docs/performance.md promise about redirects, with each server in its
 * own processes on one core and the load on another.
 */
const SCENARIOS: readonly Scenario[] = [
  ...[redirect, zipf, latency, startup, creates, processes, rules, conversions],
  ...[webhooks, linksAsCode],
]

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name))
if (unknown.length > 0) {
  const known = SCENARIOS.map(({ name, description }) => `  ${name.padEnd(10)} ${description}`)
  process.stderr.write(`No scenario ${unknown.join(', ')}. There are:\n${known.join('\n')}\n`)
  process.exit(2)
}

leaveServerCore()
const nginx = findTool('nginx')
const bench: Bench = {
  generator: findGenerator(),
  nginx,
  rounds: Number(process.env.BENCH_ROUNDS ?? 5),
  seconds: Number(process.env.BENCH_SECONDS ?? 4),
}
const setup = {
  generator: bench.generator.name,
  nginx: nginx === undefined ? 'not installed' : nginxVersion(nginx),
  pinning: PINNING,
  rounds: bench.rounds,
  seconds: bench.seconds,
}
for (const [name, value] of Object.entries(setup)) process.stdout.write(`${name}: ${value}\n`)

const outcomes = new Map<string, Outcome>()
for (const scenario of SCENARIOS) {
  if (asked.length > 0 && !asked.includes(scenario.name)) continue
  process.stdout.write(`\n${scenario.name}: ${scenario.description}\n`)
  const outcome = await scenario.run(bench)
  outcomes.set(scenario.name, outcome)
  printOutcome(outcome)
}
reportOutcomes(setup, outcomes)
