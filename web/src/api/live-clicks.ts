import type { LiveClick, LiveStart } from '@terse/contract/clicks'
import { ApiError } from './api-error.ts'
import type { ValueFilter } from './click-reads.ts'
import { openStream, pause } from './request.ts'

export type { LiveClick, LiveStart }

/** Clicks that have just been ingested; `left_out` more are not sent one by one. */
export type LiveBatch = { readonly clicks: readonly LiveClick[]; readonly left_out: number }

/** Which clicks are sent: of links or a domain, by ids, or of the whole workspace, with the values of a filter. */
export type LiveQuery = ValueFilter & {
  readonly link?: readonly string[]
  readonly domain?: string
  readonly tag?: readonly string[]
  readonly bots: 'exclude' | 'only'
}

export type LiveListener = {
  /**
   * Comes first on each connection and replaces what was received before.
   *
   * @param aheadMs how far the clock of the service is ahead of this one
   */
  onStart(start: LiveStart, aheadMs: number): void
  onClicks(batch: LiveBatch): void
  /** The connection failed, and is opened again later. */
  onFailure(): void
  /** The service refuses; nothing more comes. */
  onRefusal(): void
}

const RETRY_MS_MIN = 2_000
const RETRY_MS_MAX = 60_000
/** A comment comes every 15 s: after three missed ones, the connection is dead. */
const SILENCE_MS_MAX = 45_000
/** A connection that lasted as long as this was a good one. */
const LASTED_MS = 30_000

/** Follows clicks until the signal aborts or the service refuses, and connects again after failures. */
export async function followClicks(
  query: LiveQuery,
  listener: LiveListener,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    const begunMs = Date.now()
    let retryAfterMs = 0
    try {
      await readOnce(query, listener, signal)
    } catch (error) {
      if (signal.aborted) return
      if (isFinal(error)) return listener.onRefusal()
      if (error instanceof ApiError) retryAfterMs = (error.retryAfterSeconds ?? 0) * 1_000
    }
    if (signal.aborted) return
    listener.onFailure()
    failures = Date.now() - begunMs > LASTED_MS ? 1 : failures + 1
    await pause(Math.max(retryMs(failures), retryAfterMs), signal)
  }
}

/** The pause before a connection, with jitter: a node that stops leaves many clients at once. */
function retryMs(failures: number): number {
  const longestMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (failures - 1))
  return longestMs * (0.75 + Math.random() / 4)
}

/** Whether connecting again cannot help: no access, no such link, or a sign-in that was cancelled. */
function isFinal(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.status >= 400 && error.status < 500 && error.status !== 429
  return !(error instanceof BrokenConnection)
}

/** The connection broke while it was read. */
class BrokenConnection extends Error {}

async function readOnce(
  query: LiveQuery,
  listener: LiveListener,
  signal: AbortSignal,
): Promise<void> {
  const silence = new AbortController()
  const { body, headers } = await openStream('/clicks/live', {
    query,
    signal: AbortSignal.any([signal, silence.signal]),
  })
  const serverMs = Date.parse(headers.get('date') ?? '')
  const aheadMs = Number.isNaN(serverMs) ? 0 : serverMs - Date.now()
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  const parser = new EventStreamParser()
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX)
    const chunk = await reader
      ?.read()
      .catch((error: unknown) => {
        throw new BrokenConnection('The connection broke.', { cause: error })
      })
      .finally(() => clearTimeout(timer))
    if (chunk === undefined || chunk.done) return
    for (const event of parser.push(chunk.value)) hand(event, listener, aheadMs)
  }
}

/** After the event `end` the service closes the connection. */
function hand({ name, data }: StreamEvent, listener: LiveListener, aheadMs: number): void {
  if (name === 'start') listener.onStart(JSON.parse(data) as LiveStart, aheadMs)
  if (name === 'clicks') listener.onClicks(JSON.parse(data) as LiveBatch)
}

/** An event as a server sent it. */
type StreamEvent = { readonly name: string; readonly data: string }

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
