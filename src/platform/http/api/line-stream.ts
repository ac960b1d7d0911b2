import { Readable } from 'node:stream'

export type StreamWatch = {
  /** Called for each batch, including those that add no text. */
  readonly onBatch: () => void
  /** Called if closing the source of the batches fails. */
  readonly onError: (error: unknown) => void
}

/**
 * Streams an export, and formats batches as the stream is read. Reads the first batch before it returns, so
 * that a refusal can still be sent as an error response.
 */
export async function lineStream<T>(
  batches: AsyncIterable<readonly T[]>,
  format: { readonly header: string; readonly lineOf: (item: T) => string },
  watch: StreamWatch,
): Promise<Readable> {
  const iterator = batches[Symbol.asyncIterator]()
  const first = await iterator.next()

  async function* text(): AsyncGenerator<string> {
    if (format.header !== '') yield format.header
    for (let batch = first; batch.done !== true; batch = await iterator.next()) {
      watch.onBatch()
      if (batch.value.length > 0) yield batch.value.map(format.lineOf).join('')
    }
  }
  const stream = Readable.from(text(), { objectMode: false })
  // A finally block above would not run if the stream is destroyed before the generator starts.
  stream.once('close', () => {
    iterator.return?.().catch(watch.onError)
  })
  return stream
}
