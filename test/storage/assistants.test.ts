import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { describeStore } from '../support/store.ts'

const NOW = 1_000_000

describeStore('assistants in the store', (at) => {
  const addAssistant = async (clientId: string, expires_at: number, secrets: number) => {
    const id = randomUUID()
    await at.store.write(async ({ assistants }) => {
      await assistants.insert({
        ...{ id, workspace_id: randomUUID(), person_id: randomUUID(), scopes: ['links:read'] },
        ...{ client_id: clientId, client_name: 'Orbit', created_at: 1, expires_at },
        last_used_at: null,
      })
      for (let nth = 0; nth < secrets; nth += 1) {
        await assistants.insertSecret({
          ...{ hash: `${id} ${nth}`, assistant_id: id, kind: 'refresh', expires_at },
          ...{ used_at: null, redirect_uri: null, challenge: null },
        })
      }
    })
    return id
  }
  const register = async () => {
    const id = randomUUID()
    await at.store.write(({ assistants }) =>
      assistants.insertClient({ id, name: 'Orbit', redirect_uris: [], created_at: 1 }),
    )
    return id
  }

  test('go in steps once they have expired, with programs that no person lets work', async () => {
    const [used, unused] = [await register(), await register()]
    const expired = await addAssistant('https://a.example/client.json', NOW, 1_500)
    const live = await addAssistant(used, NOW + 1, 1)
    const { store } = at
    const trim = () => store.write(({ assistants }) => assistants.trim(NOW, NOW))
    assert.equal(await trim(), true, 'there are more secrets')
    while (await trim());
    const { assistants } = store.read
    assert.equal(await assistants.findSecret('refresh', `${expired} 0`), undefined)
    assert.equal(await assistants.findSecret('refresh', `${expired} 1499`), undefined)
    assert.equal((await assistants.findSecret('refresh', `${live} 0`))?.assistant.id, live)
    assert.equal(await store.write((stores) => stores.assistants.lock(expired)), false)
    assert.deepEqual(
      [await assistants.findClient(unused), (await assistants.findClient(used))?.id],
      [undefined, used],
    )
  })
})
