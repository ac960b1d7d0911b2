import { hash } from 'node:crypto'
import type { FairQueue, FairQueueOptions } from '../../lib/fair-queue.ts'
import { SieveCache } from '../../lib/sieve-cache.ts'
import { VERSION } from '../../lib/version.ts'
import type { Color } from './color.ts'

/** One picture keeps a core busy for about 10 ms; a request waits for less than 3 s in all. */
export const QR_QUEUE: FairQueueOptions = {
  work: 'QR codes',
  concurrency: 1,
  waitingPerOwnerMax: 128,
  waitingMax: 4_096,
  deadlineMs: 2_000,
}

/** A picture is 3 KiB on average, and 16 KiB at most. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024
/** What an entry takes beside its picture and its name. */
const ENTRY_BYTES = 200

/** Everything that a picture depends on. */
export type QrTask = { readonly text: string; readonly color: Color }

/** Renders QR codes off the event loop, each workspace in its turn, and caches the pictures. */
export class QrPictures {
  readonly #queue: FairQueue
  readonly #render: (task: QrTask) => Promise<Uint8Array>
  readonly #cache = new SieveCache<Uint8Array>(CACHE_BYTES_MAX)

  constructor(options: { queue: FairQueue; render: (task: QrTask) => Promise<Uint8Array> }) {
    this.#queue = options.queue
    this.#render = options.render
  }

  /**
   * Returns the picture as a PNG.
   *
   * @throws {QueueRefusal} when too many pictures are waiting
   */
  async get(workspaceId: string, task: QrTask): Promise<Uint8Array> {
    const name = nameOf(task)
    const cached = this.#cache.get(name)
    if (cached !== undefined) return cached
    return this.#queue.run(workspaceId, async () => {
      // The same picture may have been rendered while this request was waiting.
      const rendered = this.#cache.get(name) ?? (await this.#render(task))
      this.#cache.set(name, rendered, rendered.length + name.length + ENTRY_BYTES)
      return rendered
    })
  }
}

/** An HTTP entity tag of the picture, known without rendering it. A new release may draw it differently. */
export function qrEntityTag(task: QrTask): string {
  return `"${hash('sha256', `${VERSION} ${nameOf(task)}`, 'base64url')}"`
}

function nameOf({ text, color: { red, green, blue } }: QrTask): string {
  return `${red},${green},${blue} ${text}`
}
