import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { BoundSocket, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { startNode } from '../../src/app/node/node.ts'
import { journalsRoot } from '../../src/clicks/journal/journal-folder.ts'
import { SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'

describe('startNode', () => {
  test('leaves no journal behind when another program listens on its port', async (t) => {
    const place = await SQLITE.createPlace()
    const port = await freePort()
    const config = readConfig({ ...place.env, TERSE_PORT: String(port), TERSE_HOST: '127.0.0.1' })
    const log = pino({ level: 'silent' })
    // Both sockets may bind the port; only one may listen.
    const [otherSocket, ownSocket] = [1, 2].map(() => new BoundSocket({ host: '127.0.0.1', port }))
    const other = createServer().listen(otherSocket)
    await once(other, 'listening')
    const instance = await openInstance(config, log)
    t.after(async () => {
      other.close()
      await instance.close()
      await place.remove()
    })
    assert.ok(ownSocket)
    await assert.rejects(startNode(config, instance, log, { listenOn: [[ownSocket]] }), {
      code: 'EADDRINUSE',
      port,
    })
    assert.deepEqual(readdirSync(journalsRoot(place.dataDir)), [])
  })
})
