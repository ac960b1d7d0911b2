import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createFolder } from '../../../test/support/engines.ts'
import { findTerseCommand, setGivenOptions, terseCommand } from './terse-command.ts'

describe('findTerseCommand', () => {
  let root: string
  let program: string
  before(() => {
    root = realpathSync(createFolder())
    for (const folder of ['checkout/bin', 'checkout/docs', 'global', 'other', 'empty']) {
      mkdirSync(path.join(root, folder), { recursive: true })
    }
    program = path.join(root, 'checkout/bin/terse.js')
    for (const file of [program, path.join(root, 'checkout/package.json')]) writeFileSync(file, '')
    symlinkSync(program, path.join(root, 'global/terse'))
    writeFileSync(path.join(root, 'other/terse'), '')
    const local = path.join(root, 'project/node_modules/.bin')
    mkdirSync(local, { recursive: true })
    symlinkSync(program, path.join(local, 'terse'))
  })
  after(() => rmSync(root, { recursive: true }))

  const CASES = [
    { name: 'npx in a checkout', folder: 'checkout', PATH: [], words: 'npx terse' },
    {
      name: 'npx in a folder below a checkout',
      folder: 'checkout/docs',
      PATH: [],
      words: 'npx terse',
    },
    {
      name: 'npx in a project that depends on it',
      folder: 'project',
      PATH: [],
      words: 'npx terse',
    },
    {
      name: 'npx where only npm’s own PATH contains it',
      folder: 'project',
      PATH: ['project/node_modules/.bin'],
      words: 'npx terse',
    },
    {
      name: 'the command name where PATH contains it',
      folder: 'empty',
      PATH: ['global'],
      words: 'terse',
    },
    { name: 'the file path anywhere else', folder: 'empty', PATH: [], words: undefined },
    {
      name: 'the file path where PATH has another program of that name',
      folder: 'empty',
      PATH: ['other'],
      words: undefined,
    },
    {
      name: 'the file path in a folder that was removed',
      folder: undefined,
      PATH: [],
      words: undefined,
    },
  ]
  for (const { name, folder, PATH, words } of CASES) {
    test(`returns ${name}`, () => {
      const found = findTerseCommand({
        program,
        folder: folder && path.join(root, folder),
        PATH: PATH.map((each) => path.join(root, each)).join(path.delimiter),
      })
      assert.equal(found, words ?? program)
    })
  }
})

describe('a printed command', () => {
  after(() => setGivenOptions(new Map()))

  const VALUES = ['data', '/srv/my data', "o'clock", '~/data', '$HOME;`id`', '', 'a\nb', '*']
  for (const value of VALUES) {
    test(`carries --data-dir ${JSON.stringify(value)} through a shell`, () => {
      setGivenOptions(new Map([['--data-dir', value]]))
      const [, typed] = terseCommand('repair --yes').split('repair --yes ')
      const script = `printf '%s\\0' ${typed}`
      const seen = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
      assert.deepEqual(seen.split('\0'), ['--data-dir', value, ''])
    })
  }

  test('carries every option that was given, also in a thread', async () => {
    const given = [
      ['--data-dir', 'a'],
      ['--env-file', 'b c'],
    ] as const
    setGivenOptions(new Map(given))
    const expected = terseCommand('doctor')
    assert.match(expected, / doctor --data-dir a --env-file 'b c'$/)
    const source = `
      import { parentPort } from 'node:worker_threads'
      const { terseCommand } = await import(${JSON.stringify(import.meta.resolve('./terse-command.ts'))})
      parentPort.postMessage(terseCommand('doctor'))`
    const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`))
    const printed = await new Promise((resolve, reject) => {
      thread.once('message', resolve)
      thread.once('error', reject)
    })
    assert.equal(printed, expected)
  })

  test('stays as it is where none was given', () => {
    setGivenOptions(new Map())
    assert.ok(terseCommand('doctor').endsWith(' doctor'))
    assert.equal(`${terseCommand('')} doctor`, terseCommand('doctor'))
  })
})
