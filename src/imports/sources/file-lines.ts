/** Nothing that a source writes in one line is longer. */
export const LINE_BYTES_MAX = 1024 * 1024
const NEWLINE = 0x0a

export type FileLine = {
  /** Undefined for a line of more than `LINE_BYTES_MAX`, which is skipped. */
  readonly text: string | undefined
  /** The first is 1. */
  readonly number: number
  /** The position after the line, in bytes. */
  readonly end: number
  /** Whether the file ends without the end of this line. */
  readonly isCutOff: boolean
}

/** Reads the lines of a file, from its bytes, without holding more than one in memory. */
export async function* readFileLines(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<FileLine, void, void> {
  const parts: Buffer[] = []
  let [bytes, number, end] = [0, 1, 0]
  const take = (isCutOff: boolean): FileLine => {
    const text = bytes > LINE_BYTES_MAX ? undefined : Buffer.concat(parts).toString('utf8')
    parts.length = 0
    bytes = 0
    return { text: text?.replace(/\r$/, ''), number: number++, end, isCutOff }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      if (bytes <= LINE_BYTES_MAX) parts.push(chunk.subarray(from, at))
      bytes += at - from
      end += at + 1 - from
      from = at + 1
      yield take(false)
    }
    if (bytes <= LINE_BYTES_MAX) parts.push(chunk.subarray(from))
    bytes += chunk.length - from
    end += chunk.length - from
  }
  if (bytes > 0) yield take(true)
}
