import { openConnection } from '../load/connection.ts'

export type LoadResult = { readonly seconds: number; readonly latenciesMs: readonly number[] }

/**
 * Sends `count` requests over keep-alive connections, each with one request at a time, and checks
 * that every one gets the expected status.
 *
 * @param options.request the bytes of the request with this number
 */
export async function runLoad(options: {
  port: number
  connections: number
  count: number
  status: number
  request: (number: number) => string
}): Promise<LoadResult> {
  const latenciesMs: number[] = []
  let sent = 0

  async function drive(): Promise<void> {
    const connection = await openConnection(options.port, options.status)
    while (sent < options.count) {
      const sentAtMs = performance.now()
      const number = sent
      sent += 1
      await connection.ask(options.request(number))
      latenciesMs.push(performance.now() - sentAtMs)
    }
    connection.close()
  }

  const startedMs = performance.now()
  await Promise.all(Array.from({ length: options.connections }, drive))
  return { seconds: (performance.now() - startedMs) / 1_000, latenciesMs }
}
