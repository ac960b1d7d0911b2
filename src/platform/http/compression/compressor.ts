import { TaskThread } from '../../work/task-thread.ts'
import { type CompressionTask, compressBytes } from './compress-bytes.ts'

/** Up to here, to compress costs the main thread about as much as to hand it to another thread: 0.1 ms. */
const MAIN_THREAD_BYTES_MAX = 8 * 1024
/** Some 20 ms of work for the thread. */
const PENDING_BYTES_MAX = 4 * 1024 * 1024

/**
 * Compresses in a thread of its own, so that it delays neither visitors nor, as in libuv's threads, the
 * syncs of the click journal. It is bounded: whatever clients ask for, it takes one core at most, and
 * answers that come while it has too much to do go out as they are.
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

  /** Returns undefined when the answer has to go out as it is. */
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
