import pg from 'pg'
import { isServerFull } from './errors.ts'
import { connectionOptions } from './pool.ts'

/**
 * Asks over a connection of its own whether the database answers.
 *
 * @param timeoutMs for the whole of it
 *
 * @throws what the matter is
 */
export async function probe(url: string, timeoutMs: number): Promise<void> {
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
  } catch (error) {
    if (isServerFull(error)) return
    throw isLate ? new Error('PostgreSQL does not answer', { cause: error }) : error
  } finally {
    clearTimeout(timer)
    client.connection.stream.destroy()
  }
}
