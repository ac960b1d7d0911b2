import { isServerFull } from './errors.ts'
import { connectionOptions } from './pool.ts'
import { PrimaryClient } from './primary-client.ts'

/**
 * Checks over a new connection whether the database answers and accepts writes. Returns false when the server is up
 * but at its connection limit.
 *
 * @param timeoutMs the limit for connecting and the query together
 *
 * @throws the error of the connection or the query
 */
export async function probe(url: string, timeoutMs: number): Promise<boolean> {
  const client = new PrimaryClient(connectionOptions(url))
  let isLate = false
  const timer = setTimeout(() => {
    setImmediate(() => {
      isLate = true
      client.connection.stream.destroy()
    })
  }, timeoutMs)
  try {
    await client.connect()
    return true
  } catch (error) {
    if (isServerFull(error)) return false
    throw isLate ? new Error('PostgreSQL does not answer', { cause: error }) : error
  } finally {
    clearTimeout(timer)
    client.connection.stream.destroy()
  }
}
