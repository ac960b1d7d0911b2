import { terseContender } from '../servers/contender.ts'
import { createLinksFolder } from '../support/links-folder.ts'
import { alternate, medianCpu, summarize } from '../support/measure.ts'
import { usageOf } from '../support/process-usage.ts'
import type { Scenario } from '../support/scenario.ts'
import { CONNECTIONS, LINKS, MANY_LINKS } from './conditions.ts'

const RATIO_TO_FEW_LINKS_MAX = 1.3
const RESIDENT_MIB_MAX = 400
const RATIO_OF_MISS_TO_HIT_MAX = 2
/** The usual difference between rounds. */
const RATIO_AFTER_FLOOD_MAX = 1.1
/** Time for the cache to fill. */
const WARM_UP_SECONDS = 20

export const zipf: Scenario = {
  name: 'zipf',
  description: 'ten million links by a Zipf distribution (s = 1), then a flood of unknown keys',
  async run({ generator, rounds, seconds }) {
    const base = { connections: CONNECTIONS, seconds, status: 302 } as const
    const uniformLoad = { ...base, traffic: { kind: 'uniform', links: LINKS } } as const
    const zipfLoad = { ...base, traffic: { kind: 'zipf', links: MANY_LINKS } } as const
    const missingLoad = {
      ...base,
      traffic: { kind: 'missing', links: MANY_LINKS },
      status: 404,
    } as const
    const few = await terseContender('Terse, 100,000 links', await createLinksFolder(LINKS))
    const many = await terseContender('Terse, ten million', await createLinksFolder(MANY_LINKS))
    const warmUpSeconds = WARM_UP_SECONDS
    const [hits = [], drawn = []] = await alternate(
      generator,
      [
        { contender: few, load: uniformLoad },
        { contender: many, load: zipfLoad, warmUpSeconds },
      ],
      rounds,
    )
    const [misses = [], afterwards = []] = await alternate(
      generator,
      [
        { contender: many, load: missingLoad },
        { contender: many, load: zipfLoad },
      ],
      rounds,
    )
    const { residentPeakMib } = usageOf(many.server.pid)
    for (const contender of [few, many]) await contender.stop()

    const hit = medianCpu(hits)
    return {
      rows: [
        summarize('100,000 links at random', hits),
        summarize('ten million, Zipf', drawn),
        summarize('ten million, unknown keys', misses),
        summarize('ten million, Zipf, each after a flood', afterwards),
      ],
      targets: [
        {
          what: 'CPU with ten million links, by that with 100,000',
          value: medianCpu(drawn) / hit,
          atMost: RATIO_TO_FEW_LINKS_MAX,
        },
        { what: 'peak RSS in MiB', value: residentPeakMib, atMost: RESIDENT_MIB_MAX },
        {
          what: 'CPU of an unknown key, by that of a hit',
          value: medianCpu(misses) / hit,
          atMost: RATIO_OF_MISS_TO_HIT_MAX,
        },
        {
          what: 'CPU after a flood, by that before',
          value: medianCpu(afterwards) / medianCpu(drawn),
          atMost: RATIO_AFTER_FLOOD_MAX,
        },
      ],
      missing: [],
    }
  },
}
