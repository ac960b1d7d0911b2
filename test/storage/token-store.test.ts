import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Token } from '../../src/identity/store/token-store.ts'
import { UniqueViolation } from '../../src/storage/store.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addWorkspace, NOW, newToken, unique } from './samples.ts'

describeStore('the token store', (at) => {
  async function add(overrides: Partial<Token> = {}): Promise<{ token: Token; hash: string }> {
    const workspaceId = overrides.workspace_id ?? (await addWorkspace(at.store)).id
    const token = newToken(workspaceId, overrides)
    const hash = unique('hash')
    await at.store.write((stores) => stores.tokens.insert(token, hash))
    return { token, hash }
  }

  test('finds a token by the hash of its secret alone, and never returns the hash', async () => {
    const { token, hash } = await add({ scopes: ['clicks:read', 'links:read'] })
    same(await at.store.read.tokens.findByHash(hash), token)
    assert.equal(await at.store.read.tokens.findByHash(hash.toUpperCase()), undefined)
    assert.equal(await at.store.read.tokens.findByHash(''), undefined)
  })

  test('stores every time to the microsecond', async () => {
    const times = { expires_at: NOW + 1, last_used_at: NOW + 2, revoked_at: NOW + 3 }
    const { token, hash } = await add(times)
    same(await at.store.read.tokens.findByHash(hash), token)
  })

  test('refuses a second token with the same hash', async () => {
    const { token, hash } = await add()
    const second = newToken(token.workspace_id)
    await assert.rejects(
      at.store.write((stores) => stores.tokens.insert(second, hash)),
      UniqueViolation,
    )
    same(await at.store.read.tokens.findByHash(hash), token)
  })

  test('lists the tokens of one workspace, or of all, oldest first', async () => {
    const tokensOf = async (workspaceId: string | undefined) =>
      (await at.store.read.tokens.list(workspaceId)).map(({ token }) => token)
    const { token: newest } = await add({ created_at: NOW + 20 })
    const mine = { workspace_id: newest.workspace_id }
    const { token: oldest } = await add({ ...mine, created_at: NOW + 5 })
    const { token: foreign } = await add({ created_at: NOW + 10 })
    same(await tokensOf(newest.workspace_id), [oldest, newest])
    const ids = new Set([oldest.id, foreign.id, newest.id])
    const all = (await tokensOf(undefined)).filter(({ id }) => ids.has(id))
    same(all, [oldest, foreign, newest])
  })

  test('revokes a token once', async () => {
    const { token, hash } = await add()
    const revoke = (id: string, at_: number) =>
      at.store.write((stores) => stores.tokens.revoke(undefined, id, at_))
    same(await revoke(token.id, NOW + 1), { ...token, revoked_at: NOW + 1 })
    assert.equal(await revoke(token.id, NOW + 2), undefined)
    assert.equal(await revoke(randomUUID(), NOW), undefined)
    const revoked = await at.store.read.tokens.findByHash(hash)
    same(revoked, { ...token, revoked_at: NOW + 1 })
  })

  test('records the last use of one token alone', async () => {
    const { token, hash } = await add()
    const bystander = await add({ workspace_id: token.workspace_id })
    await at.store.write((stores) => stores.tokens.noteUse(token.id, NOW + 9))
    same(await at.store.read.tokens.findByHash(hash), {
      ...token,
      last_used_at: NOW + 9,
    })
    same(await at.store.read.tokens.findByHash(bystander.hash), bystander.token)
  })
})
