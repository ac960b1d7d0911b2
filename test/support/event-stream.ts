import assert from 'node:assert/strict'

export type ServerSentEvent = {
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  readonly data: any
}

/** A client of a stream of server-sent events. */
export type EventStream = {
  readonly headers: Headers
  /** The next event; undefined at the end. Comments are skipped. */
  next(): Promise<ServerSentEvent | undefined>
  close(): Promise<void>
}

/** @param path with its query, after `/api/v1` */
export async function openEventStream(
  baseUrl: string,
  token: string,
  path: string,
): Promise<EventStream> {
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' }
  const response = await fetch(`${baseUrl}/api/v1${path}`, { headers })
  assert.equal(response.status, 200)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  assert.ok(reader)
  const read = async () => (await reader.read()).value
  return { headers: response.headers, next: eventReader(read), close: () => reader.cancel() }
}

/**
 * Returns a function that returns the next event; undefined at the end. It skips comments.
 *
 * @param read the next part of the text; undefined at its end
 */
export function eventReader(
  read: () => Promise<string | undefined>,
): () => Promise<ServerSentEvent | undefined> {
  let text = ''
  return async () => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end === -1) {
        const part = await read()
        if (part === undefined) return undefined
        text += part
        continue
      }
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const match = /^event: (\w+)\ndata: (.*)$/.exec(block)
      if (match !== null) return { event: match[1] ?? '', data: JSON.parse(match[2] ?? '') }
      assert.match(block, /^:/)
    }
  }
}
