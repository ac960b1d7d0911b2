/** An event as a server sent it. */
export type StreamEvent = { readonly name: string; readonly data: string }

/**
 * Splits the text of a stream into events (`text/event-stream`), chunk by chunk. Comments and fields other than
 * `event` and `data` are ignored.
 */
export class EventStreamParser {
  #rest = ''

  /** Returns the events that are complete with this chunk. */
  push(chunk: string): readonly StreamEvent[] {
    const blocks = (this.#rest + chunk).replaceAll('\r\n', '\n').split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap(parseEvent)
  }
}

function parseEvent(block: string): readonly StreamEvent[] {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^(event|data): ?(.*)$/.exec(line) ?? []
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
  }
  return data.length === 0 ? [] : [{ name, data: data.join('\n') }]
}
