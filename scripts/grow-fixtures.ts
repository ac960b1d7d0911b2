import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  FULL_GROWTH,
  GROWN_SERVICES,
  growSource,
} from '../test/support/grown-sources/grow-source.ts'

/**
 * Grows data of Kutt, YOURLS and Sink to import: `node scripts/grow-fixtures.ts FOLDER [--links N] [--clicks N]
 * [--seed N]`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { links: { type: 'string' }, clicks: { type: 'string' }, seed: { type: 'string' } },
})
const [folder] = positionals
if (folder === undefined) throw new Error('name a folder')
mkdirSync(folder, { recursive: true })
for (const service of GROWN_SERVICES) {
  const { file, truth } = growSource(service, folder, {
    links: Number(values.links ?? FULL_GROWTH.links),
    clicks: Number(values.clicks ?? FULL_GROWTH.clicks),
    seed: Number(values.seed ?? FULL_GROWTH.seed),
  })
  process.stdout.write(`${file}\n${truth}\n`)
}
