import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { emitReads, readShared } from './shared-reads.ts'

/** Opens a connection, and returns both of its ends. */
async function connection(t: TestContext): Promise<{ client: Socket; accepted: Socket }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const client = connect(address.port, '127.0.0.1')
  const [accepted] = await once(server, 'connection')
  t.after(() => {
    client.destroy()
    server.close()
  })
  return { client, accepted }
}

test('this version of Node lets all connections read into one buffer', async (t) => {
  const pairs = [await connection(t), await connection(t)]
  const read: { memory: ArrayBufferLike; text: string }[] = []
  for (const { client, accepted } of pairs) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const isShared = readShared(accepted, (bytes) => {
      read.push({ memory: bytes.buffer, text: bytes.toString() })
      resolve()
      return true
    })
    assert.ok(isShared)
    client.write(`bytes ${read.length}`)
    await promise
  }
  assert.deepEqual(
    read.map(({ text }) => text),
    ['bytes 0', 'bytes 1'],
  )
  assert.equal(read[0]?.memory, read[1]?.memory)
})

test('a socket emits what it reads as copies from emitReads on, from where reading stopped', async (t) => {
  const { client, accepted } = await connection(t)
  const first = Promise.withResolvers<string>()
  readShared(accepted, (bytes) => {
    first.resolve(bytes.toString())
    return false
  })
  client.write('one')
  assert.equal(await first.promise, 'one')
  emitReads(accepted)
  client.write('two')
  const data = once(accepted, 'data')
  accepted.resume()
  const [two] = await data
  client.end('three')
  const [three] = await once(accepted, 'data')
  assert.deepEqual([two.toString(), three.toString()], ['two', 'three'])
  await once(accepted, 'end')
})
