import { hash } from 'node:crypto'
import type { Actor } from '../../identity/index.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { Failure } from '../../platform/failure.ts'
import { VERSION } from '../../platform/process/version.ts'
import type { FairQueue, FairQueueOptions } from '../../platform/work/fair-queue.ts'
import { formatColor } from './color.ts'
import type { QrRendering, QrTask } from './qr-task.ts'

/** One picture keeps a core busy for 0.3 to 9 ms; a request waits for less than 3 s in all. */
export const QR_QUEUE: FairQueueOptions = {
  work: 'QR codes',
  concurrency: 1,
  waitingPerOwnerMax: 128,
  waitingMax: 4_096,
  deadlineMs: 2_000,
}

/** A PNG is 1 KiB on average and 16 KiB at most; an SVG 3 KiB, and of the longest link 115 KiB. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024
/** What an entry takes beside its picture and its name. */
const ENTRY_BYTES = 200

/** Renders QR codes off the event loop, each workspace in its turn, and caches the pictures. */
export class QrPictures {
  readonly #queue: FairQueue
  readonly #render: (task: QrTask) => Promise<QrRendering>
  readonly #cache = new SieveCache<Uint8Array>(CACHE_BYTES_MAX)

  constructor(options: { queue: FairQueue; render: (task: QrTask) => Promise<QrRendering> }) {
    this.#queue = options.queue
    this.#render = options.render
  }

  /**
   * Returns the picture, a PNG or an SVG.
   *
   * @throws {QueueRefusal} when too many pictures are waiting
   * @throws {Failure} `validation_failed` for parameters with which the code cannot be drawn
   */
  async get(actor: Actor, task: QrTask): Promise<Uint8Array> {
    const name = nameOf(task)
    const cached = this.#cache.get(name)
    if (cached !== undefined) return cached
    return this.#queue.run(actor.workspaceId, async () => {
      // The same picture may have been rendered while this request was waiting.
      const rendered = this.#cache.get(name) ?? pictureOf(await this.#render(task))
      this.#cache.set(name, rendered, rendered.length + name.length + ENTRY_BYTES)
      return rendered
    })
  }
}

/**
 * An HTTP entity tag of the picture, known without rendering it. A new release may draw it differently.
 * It is weak, because an SVG has the same tag compressed and not.
 */
export function qrEntityTag(task: QrTask): string {
  return `W/"${hash('sha256', `${VERSION} ${nameOf(task)}`, 'base64url')}"`
}

function pictureOf(rendering: QrRendering): Uint8Array {
  if ('picture' in rendering) return rendering.picture
  const faults = Object.entries(rendering.fault).map(([field, text]) => [field, [text]])
  throw Failure.invalid(Object.fromEntries(faults))
}

function nameOf({ text, color, format, size, margin, level }: QrTask): string {
  return [format, size, margin, level, formatColor(color), text].join(' ')
}
