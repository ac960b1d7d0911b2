import pg from 'pg'
import { isServerFull } from './errors.ts'
import { connectionOptions } from './pool.ts'

/**
 * Asks over a connection of its own whether the database answers; false where it has none to spare, which
 * is an answer too.
 *
 * @param timeoutMs for the whole of it
 *
 * @throws what the matter is
 */
export async function probe(url: string, timeoutMs: number): Promise<boolean> {
  const client = new pg.Client(connectionOptions(url))
  client.on('error', () => {})
  let isLate = false
  const timer = setTimeout(() => {
    setImmediate(() => {
      isLate = true
      client.connection.stream.destroy()
    })
  }, timeoutMs)
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch (error) {
    if (isServerFull(error)) return false
    throw isLate ? new Error('PostgreSQL does not answer', { cause: error }) : error
  } finally {
    clearTimeout(timer)
    client.connection.stream.destroy()
  }
}
