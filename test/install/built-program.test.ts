import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { findBuiltProgram } from '../../bin/built-program.js'
import { bundleProgram } from '../../scripts/program/bundle.ts'
import { writeBuild } from '../../scripts/program/write-build.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const STACKS = 'src/platform/process/source-stacks.ts'
const DAY_MS = 86_400_000

/** A small program with what the build has to treat: a thread, a file, a package, a late import, a stack. */
const PROGRAM: Readonly<Record<string, string>> = {
  'src/main.ts': `import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { name } from 'some-package'

type Failing = () => never
const { fail } = (await import('./late.ts')) as { fail: Failing }
const thread = new Worker(new URL('./threads/greeter.ts', import.meta.url))
const [greeting] = await once(thread, 'message')
const { readFileSync } = await import('node:fs')
const text = readFileSync(new URL('../text.txt', import.meta.url), 'utf8')
let stack = ''
try {
  fail()
} catch (error) {
  stack = error.stack
}
console.log(JSON.stringify({ name, greeting, text, stack }))
`,
  'src/late.ts': `interface Unused {
  readonly lines: number
}

export function fail(): never {
  throw new Error('as expected')
}
`,
  'src/threads/greeter.ts': `import { parentPort } from 'node:worker_threads'

parentPort?.postMessage(new Error('from the thread').stack)
`,
  'text.txt': 'a text',
  'node_modules/some-package/package.json': '{ "main": "main.cjs" }',
  'node_modules/some-package/main.cjs':
    "/*! © its author, @license MIT */\nexports.name = require('node:path').basename('/some/package') + '…'.length",
  'node_modules/.package-lock.json': '{}',
}

test('the built program does what its sources do, and names them in its stacks', async (t) => {
  const folder = createFolder(t)
  for (const [name, text] of Object.entries(PROGRAM)) write(path.join(folder, name), text)
  write(path.join(folder, STACKS), readFileSync(path.join(ROOT, STACKS), 'utf8'))
  writeBuild(await bundleProgram(folder), path.join(folder, 'build'))
  const main = findBuiltProgram(folder)
  assert.ok(main)
  rmSync(path.join(folder, 'src'), { recursive: true })
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(main)])
  const { name, greeting, text, stack } = JSON.parse(stdout)
  assert.equal(name, 'package1')
  assert.equal(text, 'a text')
  assert.match(stack, /^Error: as expected\n {4}at fail \(file:.*\/src\/late\.ts:6:9\)\n/)
  assert.match(stack, /\n {4}at .*\/src\/main\.ts:13:3/)
  assert.match(greeting, /^Error: from the thread\n {4}at .*\/src\/threads\/greeter\.ts:3:25/)
})

/** Other characters double the memory that V8 needs for the text of a file. */
test('the built program has only ASCII characters', async (t) => {
  const folder = createFolder(t)
  for (const [name, text] of Object.entries(PROGRAM)) write(path.join(folder, name), text)
  write(path.join(folder, STACKS), readFileSync(path.join(ROOT, STACKS), 'utf8'))
  const { files } = await bundleProgram(folder)
  const scripts = files.filter(({ name }) => name.endsWith('.js'))
  assert.ok(scripts.some(({ text }) => text.includes('/some/package')))
  for (const { name, text } of scripts) assert.match(text, /^\p{ASCII}*$/u, name)
})

describe('findBuiltProgram', () => {
  const SOURCE = 'src/main.ts'
  /** The fault is undefined where nothing is wrong with the build: the sources have changed. */
  const cases: { name: string; fault?: string; change: (folder: string, file: string) => void }[] =
    [
      { name: 'a source is longer', change: (_, file) => appendFileSync(file, ' ') },
      { name: 'a source is newer', change: (_, file) => utimesSync(file, 1, 1) },
      { name: 'a source is missing', change: (_, file) => rmSync(file) },
      {
        name: 'its folder is missing',
        fault: '…/main.js is damaged or missing',
        change: (folder) => rmSync(buildsOf(folder)[0] ?? '', { recursive: true }),
      },
      {
        name: 'one of its files is damaged',
        fault: '…/main.js is damaged or missing',
        change: (folder) => write(path.join(buildsOf(folder)[0] ?? '', 'main.js'), '  '),
      },
      {
        name: 'its list is damaged',
        fault: 'current.json is damaged',
        change: (folder) => write(path.join(folder, 'build/current.json'), '{'),
      },
      {
        name: 'there is none',
        fault: 'it is missing',
        change: (folder) => rmSync(path.join(folder, 'build'), { recursive: true }),
      },
    ]
  for (const { name, fault, change } of cases) {
    test(`returns nothing when ${name}`, (t) => {
      const folder = createFolder(t)
      const file = path.join(folder, SOURCE)
      write(file, 'the source')
      const { mtimeMs, size } = statSync(file)
      const sources = { [SOURCE]: [mtimeMs, size] } as const
      writeBuild({ files: [{ name: 'main.js', text: '' }], sources }, path.join(folder, 'build'))
      assert.equal(findBuiltProgram(folder), pathToFileURL(`${buildsOf(folder)[0]}/main.js`).href)
      change(folder, file)
      const faults: string[] = []
      assert.equal(
        findBuiltProgram(folder, (text) => faults.push(text)),
        undefined,
      )
      assert.deepEqual(
        faults.map((text) => text.replace(/^\w{16}/, '…')),
        fault === undefined ? [] : [fault],
      )
    })
  }
})

describe('writeBuild', () => {
  const bundle = (text: string) => ({ files: [{ name: 'main.js', text }], sources: {} })

  test('keeps the previous build, and builds of the last day', (t) => {
    const folder = createFolder(t)
    const build = path.join(folder, 'build')
    const soon = Date.now() + DAY_MS / 2
    for (const text of ['1', '2', '3']) writeBuild(bundle(text), build, soon)
    assert.equal(buildsOf(folder).length, 3)
    writeBuild(bundle('4'), build, soon + DAY_MS)
    assert.deepEqual(
      buildsOf(folder)
        .map((one) => readFileSync(path.join(one, 'main.js'), 'utf8'))
        .sort(),
      ['3', '4'],
    )
  })

  test('repairs a build whose files are damaged', (t) => {
    const folder = createFolder(t)
    const build = path.join(folder, 'build')
    writeBuild(bundle('1'), build)
    const [built = ''] = buildsOf(folder)
    write(path.join(built, 'main.js'), '2')
    assert.equal(findBuiltProgram(folder), undefined)
    writeBuild(bundle('1'), build)
    assert.equal(readFileSync(path.join(built, 'main.js'), 'utf8'), '1')
    assert.ok(findBuiltProgram(folder))
  })

  test('names the same program by the same folder', (t) => {
    const folder = createFolder(t)
    for (let round = 0; round < 2; round += 1) writeBuild(bundle('1'), path.join(folder, 'build'))
    assert.equal(buildsOf(folder).length, 1)
  })
})

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-built-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** The folders of the builds. */
function buildsOf(folder: string): readonly string[] {
  return readdirSync(path.join(folder, 'build'), { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => path.join(folder, 'build', name))
}
