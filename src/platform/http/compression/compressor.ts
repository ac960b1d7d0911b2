import { TaskThread } from '../../work/task-thread.ts'
import { type CompressionTask, compressBytes } from './compress-bytes.ts'

/** Up to this size, compressing costs the main thread as much as posting to another thread: 0.1 ms. */
const MAIN_THREAD_BYTES_MAX = 8 * 1024
/** About 20 ms of work for the thread. */
const PENDING_BYTES_MAX = 4 * 1024 * 1024

/**
 * Compresses in a dedicated thread, so that it does not delay visitors. libuv's thread pool would delay
 * the syncs of the click journal. It uses at most one core; while its queue is full, answers are sent
 * uncompressed.
 */
export class Compressor {
  readonly #thread: Pick<TaskThread<CompressionTask, Uint8Array>, 'run' | 'close'>
  readonly #onError: (error: unknown) => void
  #pendingBytes = 0
  #isClosed = false

  constructor(
    onError: (error: unknown) => void,
    thread: Pick<TaskThread<CompressionTask, Uint8Array>, 'run' | 'close'> = new TaskThread(
      new URL('./compression-thread.ts', import.meta.url),
    ),
  ) {
    this.#onError = onError
    this.#thread = thread
  }

  /** Returns undefined when the answer must be sent uncompressed. */
  async compress(task: CompressionTask): Promise<Buffer | undefined> {
    const bytes = Buffer.byteLength(task.body)
    if (bytes <= MAIN_THREAD_BYTES_MAX) return asBuffer(compressBytes(task))
    const isFull = this.#pendingBytes > 0 && this.#pendingBytes + bytes > PENDING_BYTES_MAX
    if (isFull || this.#isClosed) return undefined
    this.#pendingBytes += bytes
    try {
      return asBuffer(await this.#thread.run(task))
    } catch (error) {
      if (!this.#isClosed) this.#onError(error)
      return undefined
    } finally {
      this.#pendingBytes -= bytes
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread.close()
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
