import assert from 'node:assert/strict'
import path from 'node:path'
import { type Api, expectStatus } from './api.ts'
import { copyFolder, type RunningNode, serveFolder } from './data-folder.ts'
import { eventually } from './eventually.ts'
import { visit } from './visit.ts'

/**
 * A data folder at some moments: after its first run, during the second run (copied while it was
 * idle), after that, and after another second run that started with the same files.
 */
export type Moment = 'stopped' | 'running' | 'later' | 'twin'

/** The clicks counted at each moment. */
export const COUNTED: Readonly<Record<Moment, number>> = {
  stopped: 3,
  running: 7,
  later: 12,
  twin: 9,
}

/** Creates the data folder of each moment in a folder of its name. */
export async function makeMoments(folder: string): Promise<void> {
  const at = (name: string) => path.join(folder, name)
  await serveFolder(at('live'), (node) => clickNewLink(node, 3))
  copyFolder(at('live'), at('stopped'))
  await serveFolder(at('live'), async (node) => {
    for (const times of [3, 1]) await clickNewLink(node, times)
    copyFolder(at('live'), at('running'))
    for (const times of [3, 2]) await clickNewLink(node, times)
  })
  copyFolder(at('live'), at('later'))
  copyFolder(at('stopped'), at('twin'))
  await serveFolder(at('twin'), (node) => clickNewLink(node, 6))
}

/** Assembles a data folder from the files of several moments. */
export function assembleFolder(
  folder: string,
  parts: { terse: Moment; clicks: Moment; days: Moment },
  into: string,
): string {
  const dataDir = path.join(folder, into)
  const take = (moment: Moment, names: RegExp) =>
    copyFolder(path.join(folder, moment), dataDir, names)
  take(parts.terse, /^(?!clicks)/)
  take(parts.clicks, /^clicks\.db/)
  take(parts.days, /^clicks$/)
  return dataDir
}

/** Creates a link, and settles when so many clicks on it are counted. */
async function clickNewLink({ api, port }: RunningNode, times: number): Promise<void> {
  const { key } = await addLink(api)
  const before = await totalClicks(api)
  for (let visits = 0; visits < times; visits += 1) await visit(port, `/${key}`)
  await eventually(async () => assert.equal(await totalClicks(api), before + times))
}

export async function addLink(api: Api): Promise<{ id: string; key: string }> {
  const link = { domain: 'localhost', url: 'https://example.com/' }
  return expectStatus(await api.post('/links', link), 201).body
}

/** The clicks of all links, from the workspace's chart. */
export async function totalClicks(api: Api): Promise<number> {
  return expectStatus(await api.get('/clicks'), 200).body.total.clicks
}
