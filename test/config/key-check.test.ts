import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { checkInstanceKey } from '../../src/storage/instance-keys.ts'
import { describeStore } from '../support/store.ts'

const REFUSED = /not the one that this database was created with.*TERSE_SECRET_KEY.*secret\.key/

describeStore('checkInstanceKey', (at) => {
  const start = async (key?: Buffer) => {
    const settings = key === undefined ? {} : { TERSE_SECRET_KEY: key.toString('hex') }
    const config = readConfig({ ...at.place.env, ...settings })
    await (await openInstance(config, pino({ level: 'silent' }))).close()
  }

  test('lets one of several processes with different keys set the key, and refuses the others', async () => {
    const { store: other } = await at.another()
    const keys = [randomBytes(32), randomBytes(32), randomBytes(32)]
    const outcomes = await Promise.allSettled(
      keys.map((key, index) => checkInstanceKey(index === 1 ? other : at.store, key)),
    )
    const winners = keys.filter((_, index) => outcomes[index]?.status === 'fulfilled')
    assert.equal(winners.length, 1)
    for (const key of keys) {
      const check = checkInstanceKey(other, key)
      if (key === winners[0]) await check
      else await assert.rejects(check, REFUSED)
    }
    await at.db.deleteFrom('instance').execute()
  })

  test('refuses to start with another key, and says what to do', async () => {
    await start()
    await start()
    const wrong = randomBytes(32)
    await assert.rejects(start(wrong), (error: Error) => {
      assert.match(error.message, REFUSED)
      assert.ok(!error.message.includes(wrong.toString('hex')))
      return true
    })
    rmSync(path.join(at.place.dataDir, 'secret.key'))
    await assert.rejects(
      start(),
      /there is no \/.*secret\.key\. Put it back, or set TERSE_SECRET_KEY/,
    )
    assert.ok(!existsSync(path.join(at.place.dataDir, 'secret.key')), 'a wrong key was left behind')
  })

  test('stores nothing that reveals the key', async () => {
    const key = randomBytes(32)
    await at.db.deleteFrom('instance').execute()
    await start(key)
    const rows = await at.db.selectFrom('instance').selectAll().execute()
    for (const { value } of rows) assert.ok(!value.includes(key.toString('hex')))
    await start(key)
  })
})
