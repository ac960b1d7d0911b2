import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { loadOrCreateSecretKey } from '../../src/storage/instance-keys.ts'
import { createFolder } from '../support/engines.ts'

const PROCESSES = 5
const MODULE = new URL('../../src/storage/instance-keys.ts', import.meta.url).href

describe('loadOrCreateSecretKey', () => {
  let dataDir: string
  let file: string
  beforeEach(() => {
    dataDir = path.join(createFolder(), 'data')
    file = path.join(dataDir, 'secret.key')
  })
  afterEach(() => rmSync(path.dirname(dataDir), { recursive: true }))

  test('creates a random key once, readable by its owner alone', () => {
    const key = loadOrCreateSecretKey(dataDir)
    assert.equal(key.length, 32)
    assert.deepEqual(loadOrCreateSecretKey(dataDir), key)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
    assert.equal(readFileSync(file, 'utf8'), `${key.toString('hex')}\n`)
    assert.deepEqual(readdirSync(dataDir), ['secret.key'], 'no temporary file is left')
    rmSync(file)
    assert.notDeepEqual(loadOrCreateSecretKey(dataDir), key)
  })

  test('returns the same key to processes that start at the same time', async () => {
    const program = `import { loadOrCreateSecretKey } from '${MODULE}'
      process.stdout.write(loadOrCreateSecretKey(process.argv[1]).toString('hex'))`
    const results = await Promise.all(
      Array.from({ length: PROCESSES }, () =>
        promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, dataDir]),
      ),
    )
    const keys = new Set(results.map(({ stdout }) => stdout))
    assert.deepEqual([...keys], [readFileSync(file, 'utf8').trim()])
    assert.deepEqual(readdirSync(dataDir), ['secret.key'])
  })

  test('accepts capitals and surrounding white space', () => {
    const key = loadOrCreateSecretKey(dataDir)
    writeFileSync(file, `  ${key.toString('hex').toUpperCase()}\r\n\n`)
    assert.deepEqual(loadOrCreateSecretKey(dataDir), key)
  })

  for (const damage of [
    '',
    '\n',
    'ab'.repeat(31),
    'ab'.repeat(33),
    'zz'.repeat(32),
    '\0'.repeat(64),
  ]) {
    test(`refuses a damaged file: ${JSON.stringify(damage.slice(0, 8))}, ${damage.length} characters`, () => {
      loadOrCreateSecretKey(dataDir)
      writeFileSync(file, damage)
      assert.throws(
        () => loadOrCreateSecretKey(dataDir),
        (error: Error) =>
          error.message.includes(`${file} is damaged`) &&
          (damage.trim() === '' || !error.message.includes(damage)),
      )
      assert.equal(readFileSync(file, 'utf8'), damage, 'the file is unchanged')
    })
  }

  for (const mode of [0o640, 0o604, 0o660, 0o644, 0o620, 0o601]) {
    test(`refuses a file that others can access: mode ${mode.toString(8)}`, () => {
      const key = loadOrCreateSecretKey(dataDir).toString('hex')
      chmodSync(file, mode)
      assert.throws(
        () => loadOrCreateSecretKey(dataDir),
        (error: Error) =>
          error.message.includes(`chmod 600 ${file}`) && !error.message.includes(key),
      )
      chmodSync(file, 0o600)
      assert.equal(loadOrCreateSecretKey(dataDir).toString('hex'), key)
    })
  }

  test('fails when the data folder cannot be created', () => {
    writeFileSync(dataDir, '')
    assert.throws(() => loadOrCreateSecretKey(dataDir), /EEXIST|ENOTDIR/)
    assert.ok(existsSync(dataDir))
  })
})
