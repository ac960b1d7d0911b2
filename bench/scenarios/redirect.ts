import path from 'node:path'
import { bareContender, nginxContender, terseContender } from '../servers/contender.ts'
import { createLinksFolder } from '../support/links-folder.ts'
import { alternate, medianCpu, summarize } from '../support/measure.ts'
import type { Scenario, Target } from '../support/scenario.ts'
import { CONNECTIONS, LINKS } from './conditions.ts'

const RATIO_TO_NGINX_MAX = 1.25
const RATIO_TO_BARE_MAX = 1
/** Long enough to request nearly every link, at 20,000 requests a second. */
const WARM_UP_SECONDS = 20

/** The folder of another version of Terse, built, to compare with in the same run. */
const OTHER = process.env.BENCH_OTHER

async function otherContender(folder: string) {
  const program = path.join(folder, 'bin/terse.js')
  return terseContender('Terse, other version', await createLinksFolder(LINKS), { program })
}

export const redirect: Scenario = {
  name: 'redirect',
  description: 'links at random, beside nginx and a bare Node.js server',
  async run({ generator, nginx, rounds, seconds }) {
    const load = {
      traffic: { kind: 'uniform', links: LINKS },
      connections: CONNECTIONS,
      seconds,
      status: 302,
    } as const
    const contenders = [
      await terseContender('Terse', await createLinksFolder(LINKS)),
      await bareContender(),
      ...(nginx === undefined ? [] : [await nginxContender(nginx, LINKS)]),
      ...(OTHER === undefined ? [] : [await otherContender(OTHER)]),
    ]
    const warmUpSeconds = WARM_UP_SECONDS
    const entries = contenders.map((contender) => ({ contender, load, warmUpSeconds }))
    const results = await alternate(generator, entries, rounds)
    for (const contender of contenders) await contender.stop()

    const [ours = Number.NaN, bare = Number.NaN, theirs] = results.map(medianCpu)
    const targets: Target[] = [
      { what: "CPU by bare Node.js's", value: ours / bare, atMost: RATIO_TO_BARE_MAX },
    ]
    if (nginx !== undefined && theirs !== undefined) {
      targets.push({ what: "CPU by nginx's", value: ours / theirs, atMost: RATIO_TO_NGINX_MAX })
    }
    return {
      rows: contenders.map(({ name }, index) => summarize(name, results[index] ?? [])),
      targets,
      missing: nginx === undefined ? ['nginx is not installed'] : [],
    }
  },
}
