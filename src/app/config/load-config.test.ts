import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createFolder } from '../../../test/support/engines.ts'
import { ConfigError, readConfig } from './config.ts'
import { loadConfig } from './load-config.ts'

describe('the settings file', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = createFolder()
    file = path.join(folder, 'terse.env')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const load = (env: Record<string, string> = {}) => loadConfig({ TERSE_DATA_DIR: folder, ...env })

  function faultsOf(env: Record<string, string> = {}): readonly string[] {
    try {
      load(env)
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.faults
    }
    return []
  }

  test('is read from the data folder, with comments, quotes and any line ending', () => {
    writeFileSync(
      file,
      '\uFEFFTERSE_BASE_URL=https://go.example.com # ours\r\n# TERSE_PROT=1\r\nexport TERSE_PORT="8080"\r\nOTHER=1\r\n',
    )
    const { config } = load()
    assert.equal(config.baseUrl, 'https://go.example.com')
    assert.equal(config.port, 8080)
    assert.equal(config.settingsFile, file)
    assert.equal(config.dataDir, folder)
  })

  test('is optional in the data folder, and required when TERSE_ENV_FILE names it', () => {
    assert.equal(load().config.settingsFile, undefined)
    const named = path.join(folder, 'none.env')
    assert.deepEqual(faultsOf({ TERSE_ENV_FILE: named }), [
      `The settings file ${named} cannot be read (ENOENT). Correct --env-file or TERSE_ENV_FILE.`,
    ])
    mkdirSync(file)
    assert.match(faultsOf().join(), /terse\.env.*EISDIR/)
  })

  test('is overridden by the environment, but not by an empty variable', () => {
    writeFileSync(file, 'TERSE_PORT=8080\nTERSE_HOST=::1\nTERSE_DATABASE_URL_FILE=url\n')
    const { config } = load({
      TERSE_PORT: '9090',
      TERSE_HOST: '',
      TERSE_DATABASE_URL: 'postgres://db/terse',
    })
    assert.deepEqual(
      [config.port, config.host, config.databaseUrl],
      [9090, '::1', 'postgres://db/terse'],
    )
  })

  test('is ignored in the data folder when TERSE_ENV_FILE names another file', () => {
    writeFileSync(file, 'TERSE_PORT=8080\n')
    const named = path.join(folder, 'named.env')
    writeFileSync(named, 'TERSE_HOST=::1\n')
    const { config } = load({ TERSE_ENV_FILE: named })
    assert.deepEqual([config.port, config.host, config.settingsFile], [3000, '::1', named])
  })

  test('may set the data folder when it lies elsewhere, and resolves paths relative to its own folder', () => {
    const named = path.join(folder, 'named.env')
    writeFileSync(path.join(folder, 'url'), 'postgres://db/terse')
    writeFileSync(named, 'TERSE_DATA_DIR=there\nTERSE_DATABASE_URL_FILE=./url\n')
    const { config } = loadConfig({ TERSE_ENV_FILE: named })
    assert.equal(config.dataDir, path.join(folder, 'there'))
    assert.equal(config.databaseUrl, 'postgres://db/terse')
  })

  test('is passed to other processes only through their environment', () => {
    writeFileSync(file, 'TERSE_PORT=8080\nTERSE_COUNTRY_DATABASE=x.mmdb\n')
    const { config, env } = load()
    rmSync(file)
    assert.deepEqual({ ...readConfig(env) }, { ...config })
  })

  const REFUSED: { text: string; expected: readonly string[] }[] = [
    {
      text: '\nTERSE_PROT=1\nTERSE_FOO=\n',
      expected: [
        'TERSE_PROT in {file}, line 2 is not a setting: correct or remove it',
        'TERSE_FOO in {file}, line 3 is not a setting: correct or remove it',
      ],
    },
    {
      text: 'TERSE_PROT=1\nTERSE_PORT=eighty\nTERSE_TLS=yes',
      expected: [
        'TERSE_PROT in {file}, line 1 is not a setting: correct or remove it',
        'TERSE_PORT must be a whole number from 1 to 65535 ({file}, line 2)',
        'TERSE_TLS must be auto or off ({file}, line 3)',
      ],
    },
    {
      text: 'TERSE_PORT=80\nTERSE_PORT=eighty',
      expected: ['TERSE_PORT must be a whole number from 1 to 65535 ({file}, line 2)'],
    },
    {
      text: 'TERSE_BASE_URL https://go.example.com',
      expected: ['TERSE_BASE_URL has no value in {file}, line 1: write TERSE_BASE_URL=value'],
    },
    {
      text: 'TERSE_ENV_FILE=/x',
      expected: [
        'TERSE_ENV_FILE in {file}, line 1 names another file: a settings file cannot do that',
      ],
    },
    {
      text: 'TERSE_DATA_DIR=/x',
      expected: [
        'TERSE_DATA_DIR in {file}, line 1 would name the folder in which this file is found: set it in the environment, or keep the file elsewhere and name it with --env-file',
      ],
    },
  ]
  for (const { text, expected } of REFUSED) {
    test(`is refused with ${JSON.stringify(text)}, by name and line`, () => {
      writeFileSync(file, text)
      assert.deepEqual(
        faultsOf(),
        expected.map((fault) => fault.replace('{file}', file)),
      )
    })
  }

  test('is not mentioned for a fault that comes from the environment', () => {
    writeFileSync(file, 'TERSE_PORT=80\n')
    assert.deepEqual(faultsOf({ TERSE_HOST: 'x' }), [
      'TERSE_HOST must be an IP address or localhost',
    ])
  })

  test('never shows a secret in an error message', () => {
    writeFileSync(file, 'TERSE_SECRET_KEY=hunter2\nTERSE_DATABASE_URL=mysql://hunter2\n')
    assert.equal(faultsOf().length, 2)
    assert.doesNotMatch(faultsOf().join(), /hunter2/)
  })

  test('is reported when it holds a secret and every user can read it', () => {
    chmodSync(folder, 0o755)
    const exposed = (text: string, mode: number) => {
      writeFileSync(file, text)
      chmodSync(file, mode)
      return load().exposedFile
    }
    const secret = `TERSE_SECRET_KEY=${'ab'.repeat(32)}\n`
    assert.equal(exposed(secret, 0o644), file)
    assert.equal(exposed(secret, 0o640), undefined)
    assert.equal(exposed('TERSE_PORT=80\nTERSE_SECRET_KEY=\n', 0o644), undefined)
    chmodSync(folder, 0o700)
    assert.equal(exposed(secret, 0o644), undefined)
  })
})
