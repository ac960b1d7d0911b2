import path from 'node:path'
import { growKutt } from './grow-kutt.ts'
import { growSink } from './grow-sink.ts'
import { growYourls } from './grow-yourls.ts'
import type { Growth } from './grown-links.ts'

const GROWERS = {
  kutt: { grow: growKutt, file: 'kutt.db' },
  yourls: { grow: growYourls, file: 'yourls.sql' },
  sink: { grow: growSink, file: 'sink.json' },
} as const

export type GrownService = keyof typeof GROWERS

export const GROWN_SERVICES = Object.keys(GROWERS) as readonly GrownService[]

/** As large as an import is accepted with. */
export const FULL_GROWTH: Growth = { links: 20_000, clicks: 200_000, seed: 1 }

/**
 * Grows the data of a service from its fixture, into a folder that exists.
 *
 * @returns the paths of its data and of its `truth.csv`
 */
export function growSource(
  service: GrownService,
  folder: string,
  growth: Growth,
): { readonly file: string; readonly truth: string } {
  const { grow, file: name } = GROWERS[service]
  const [file, truth] = [path.join(folder, name), path.join(folder, `${service}-truth.csv`)]
  grow(file, truth, growth)
  return { file, truth }
}
