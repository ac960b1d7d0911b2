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
  let text = ''
  async function next(): Promise<ServerSentEvent | undefined> {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end === -1) {
        const { done, value = '' } = await (reader as NonNullable<typeof reader>).read()
        if (done) return undefined
        text += value
        continue
      }
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const match = /^event: (\w+)\ndata: (.*)$/.exec(block)
      if (match !== null) return { event: match[1] ?? '', data: JSON.parse(match[2] ?? '') }
      assert.match(block, /^:/)
    }
  }
  return { headers: response.headers, next, close: () => reader.cancel() }
}
