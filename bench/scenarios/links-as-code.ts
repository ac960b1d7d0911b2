import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { onCores, SERVER_CORE } from '../support/cores.ts'
import { createToken } from '../support/create-token.ts'
import { createDataFolder } from '../support/data-folder.ts'
import { usageOf } from '../support/process-usage.ts'
import type { Scenario } from '../support/scenario.ts'
import { startTerse } from '../support/server-process.ts'
import { round } from '../support/statistics.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const LINKS = 10_000
/** One link in so many has a rule. */
const PER_RULE = 100
const PLAN_SECONDS_MAX = 5
const APPLY_SECONDS_MAX = 60
const EXIT_CHANGES = 2

/** A file of 10,000 links, planned and applied; the command and the service share one core. */
export const linksAsCode: Scenario = {
  name: 'links-as-code',
  description: 'a file of 10,000 links is planned and applied, command and service on one core',
  async run() {
    const dataDir = createDataFolder()
    const env = { TERSE_DATA_DIR: dataDir }
    const token = await createToken(env)
    const terse = await startTerse(env)
    const file = path.join(dataDir, 'links.yaml')
    const rows: Record<string, unknown>[] = []
    const step = async (what: string, command: string, edition: number) => {
      writeFileSync(file, linksFile(edition))
      const login = { TERSE_URL: `http://127.0.0.1:${terse.port}`, TERSE_TOKEN: token }
      const measured = await measure(
        terse.pid,
        [command, file, ...(command === 'apply' ? ['--yes'] : [])],
        login,
      )
      rows.push({ what, ...measured })
      return measured.seconds
    }
    try {
      const plans = [await step('plan, all are new', 'plan', 1)]
      const applies = [await step('apply, all are new', 'apply', 1)]
      plans.push(await step('plan, nothing differs', 'plan', 1))
      plans.push(await step('plan, a tenth differs', 'plan', 2))
      applies.push(await step('apply, a tenth differs', 'apply', 2))
      applies.push(await step('apply, nothing differs', 'apply', 2))
      return {
        rows,
        targets: [
          { what: 's for a plan at most', value: Math.max(...plans), atMost: PLAN_SECONDS_MAX },
          {
            what: 's for an apply at most',
            value: Math.max(...applies),
            atMost: APPLY_SECONDS_MAX,
          },
        ],
        missing: [],
      }
    } finally {
      await terse.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
}

/** @param edition a tenth of the destinations depends on it */
function linksFile(edition: number): string {
  const links = Array.from({ length: LINKS }, (_, nth) => {
    const page = nth % 10 === 0 ? `${nth}-${edition}` : nth
    const rule = '    rules: [{when: {country: [DE]}, then: {url: https://example.com/de}}]\n'
    return `  - link: localhost/spring-${nth}
    url: https://example.com/catalogue/spring/${page}?from=flyer
    tags: [spring, flyer]
    utm_source: mail
    notes: On the flyer of May
${nth % PER_RULE === 0 ? rule : ''}`
  })
  return `version: 1\nset: flyers\nlinks:\n${links.join('')}`
}

type Measured = {
  readonly seconds: number
  readonly 's of the processor, command': number
  readonly 's of the processor, service': number
}

async function measure(
  servicePid: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Measured> {
  /** Processor time of all processes that this one has started, and of the service alone. */
  const usage = () => ({
    all: usageOf(process.pid).cpuMicros,
    service: usageOf(servicePid).cpuMicros,
  })
  const before = usage()
  const startedMs = performance.now()
  const [file, rest] = onCores([SERVER_CORE], process.execPath, [MAIN, ...args])
  await new Promise<void>((resolve, reject) => {
    const options = { env: { PATH: process.env.PATH, ...env }, maxBuffer: Number.POSITIVE_INFINITY }
    execFile(file, rest, options, (error, _stdout, stderr) => {
      if (error === null || error.code === EXIT_CHANGES) resolve()
      else reject(new Error(stderr))
    })
  })
  const seconds = round((performance.now() - startedMs) / 1_000, 2)
  const after = usage()
  const service = after.service - before.service
  return {
    seconds,
    's of the processor, command': round((after.all - before.all - service) / 1e6, 2),
    's of the processor, service': round(service / 1e6, 2),
  }
}
