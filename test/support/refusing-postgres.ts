import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * A server that rejects every client as PostgreSQL does, with a given SQLSTATE. Its URL ends with
 * the name of the database.
 */
export async function startRefusingPostgres(code: string, text: string) {
  const fields = ['SFATAL', 'VFATAL', `C${code}`, `M${text}`].map((field) => `${field}\0`).join('')
  const body = Buffer.from(`${fields}\0`)
  const message = Buffer.alloc(5 + body.length)
  message.write('E')
  message.writeInt32BE(4 + body.length, 1)
  body.copy(message, 5)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(message))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://terse:hunter2@127.0.0.1:${port}/links`,
    close: () => server.close(),
  }
}
