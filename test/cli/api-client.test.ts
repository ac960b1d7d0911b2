import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { tagPage } from '@terse/contract/tags'
import { ApiClient } from '../../src/remote/api-client.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('the client of the commands aborts a request after garbage was collected', async (t) => {
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const ending = new AbortController()
  const client = new ApiClient({ url, token: 'terse_x' }, { signal: ending.signal })
  const sent = client.get('/tags', tagPage)
  await once(silent, 'request')
  // One run may find only what the finalizers of the run before have released.
  for (let time = 0; time < 3; time += 1) {
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  ending.abort(new Error('the person has left'))
  await assert.rejects(sent, /the person has left/)
})
