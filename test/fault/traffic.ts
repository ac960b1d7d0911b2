import type { Api } from '../support/api.ts'
import { Crowd, type VisitedNode } from './crowd.ts'
import { Editor } from './editor.ts'
import type { WarmLinks } from './warm-links.ts'

const VISIT_PAUSE_MS = 20
const EDIT_PAUSE_MS = 150

/** Keys of links that never change, and of those that editors change. */
export const KNOWN: readonly string[] = ['known-1', 'known-2', 'known-3']
export const EDITED: readonly string[] = ['edited-1', 'edited-2']

/** The load during a fault of the database. */
export type Traffic = { readonly crowd: Crowd; readonly editors: readonly Editor[] }

/**
 * Sends visitors to all nodes, and changes the links of `EDITED`.
 *
 * @param options.apis of the nodes through which they are changed
 * @param options.links as they were created, of `KNOWN` and `EDITED` at least
 * @param options.started receives the clean-up
 */
export function startTraffic(options: {
  nodes: readonly VisitedNode[]
  apis: readonly Api[]
  links: WarmLinks
  visitors: number
  random: () => number
  started: AsyncDisposableStack
}): Traffic {
  const { nodes, apis, links, visitors, random, started } = options
  const crowd = new Crowd({ nodes, known: KNOWN, visitors, pauseMs: VISIT_PAUSE_MS, random })
  started.defer(() => crowd.stop())
  for (const [key, visits] of links.visits) crowd.redirects.set(key, visits)
  const editors = EDITED.map((key) => {
    const history = crowd.watch(key, `https://example.com/${key}`)
    const id = links.ids.get(key) ?? ''
    const editor = new Editor({ apis, key, id, history, pauseMs: EDIT_PAUSE_MS, random })
    started.defer(() => editor.stop())
    return editor
  })
  return { crowd, editors }
}
