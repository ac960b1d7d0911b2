/** What a request with a part may hold, with room below the API's 8 MiB: an answer is lost less often. */
const PART_BYTES = 4 * 1024 * 1024
const ATTEMPTS_MAX = 6

type PartSender = {
  readonly send: (offset: number, part: Blob) => Promise<unknown>
  /** Called with the bytes that have arrived. */
  readonly onSent: (bytes: number) => void
  readonly isTemporary: (error: unknown) => boolean
  /** Resolves when a part may be sent again. */
  readonly wait: (attempt: number) => Promise<void>
}

/**
 * Sends a file in parts, one after the other. A part that did not arrive is sent again.
 *
 * @throws what `send` threw, when it is not temporary or has happened six times in a row
 */
export async function sendParts(file: Blob, sender: PartSender): Promise<void> {
  let offset = 0
  let attempt = 1
  do {
    const part = file.slice(offset, offset + PART_BYTES)
    try {
      await sender.send(offset, part)
    } catch (error) {
      if (!sender.isTemporary(error) || attempt >= ATTEMPTS_MAX) throw error
      await sender.wait(attempt)
      attempt += 1
      continue
    }
    attempt = 1
    offset += part.size
    sender.onSent(offset)
  } while (offset < file.size)
}
