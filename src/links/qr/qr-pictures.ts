import { hash } from 'node:crypto'
import type { Actor } from '../../identity/index.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { Failure } from '../../platform/failure.ts'
import { VERSION } from '../../platform/process/version.ts'
import type { FairQueue, FairQueueOptions, WorkQueues } from '../../platform/work/fair-queue.ts'
import { TaskThread } from '../../platform/work/task-thread.ts'
import { formatColor, type QrRendering, type QrTask } from './qr-code.ts'

/** One picture takes 0.3 to 9 ms of processor time; a request waits less than 3 s in total. */
export const QR_QUEUE: FairQueueOptions = {
  work: 'QR codes',
  concurrency: 1,
  waitingPerOwnerMax: 128,
  waitingMax: 4_096,
  deadlineMs: 2_000,
}

/**
 * A PNG is 1 KiB on average and 16 KiB at most; an SVG 3 KiB, and of the longest link 115 KiB. A logo adds up to
 * 44 KiB to an SVG, and up to 500 KiB to a PNG of the largest size.
 */
const CACHE_BYTES_MAX = 8 * 1024 * 1024
/** The memory of an entry in addition to its picture and its name. */
const ENTRY_BYTES = 200

/** Renders QR codes in a worker thread, with a fair queue of workspaces, and caches the pictures. */
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
   * @throws {Failure} `validation_failed` when the code cannot be drawn with these parameters
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
 * Returns the entity tag of a picture without rendering it. It contains the release, which may draw
 * differently. It is weak because compressed and uncompressed SVGs share it.
 */
export function qrEntityTag(task: QrTask): string {
  return `W/"${hash('sha256', `${VERSION} ${nameOf(task)}`, 'base64url')}"`
}

function pictureOf(rendering: QrRendering): Uint8Array {
  if ('picture' in rendering) return rendering.picture
  throw Failure.invalid(rendering.faults)
}

function nameOf({ text, color, format, size, margin, level, logo }: QrTask): string {
  const logoHash = logo && hash('sha256', logo, 'base64url')
  return [format, size, margin, level, logoHash, formatColor(color), text].join(' ')
}

type OpenedQrPictures = { readonly pictures: QrPictures; close(): Promise<void> }

/** Renders QR pictures in a thread that starts with the first of them. */
export function openQrPictures(queues: WorkQueues): OpenedQrPictures {
  const thread = new TaskThread<QrTask, QrRendering>(new URL('./qr-worker.ts', import.meta.url))
  const pictures = new QrPictures({
    queue: queues.open(QR_QUEUE),
    render: (task) => thread.run(task),
  })
  return { pictures, close: () => thread.close() }
}
