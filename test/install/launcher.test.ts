import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileModule } from '../../scripts/package/compile-module.ts'
import { VERSION } from '../../src/platform/process/version.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LAUNCHER = ['bin/terse.js', 'bin/built-program.js']
const PLATFORM = `${process.platform}-${process.arch}`
const PACKAGE = `node-${PLATFORM}`
const OWN = process.versions.node
const PACKAGED = '#!/bin/sh\necho "packaged: $2"\nexit 7\n'
/** As the dynamic linker ends a program. */
const INCOMPLETE =
  '#!/bin/sh\necho "$0: error while loading shared libraries: libstdc++.so.6: cannot open" >&2\nexit 127\n'
/** Like a program for another C library: its interpreter does not exist. */
const UNUSABLE = '#!/nowhere/ld-linux.so\n'

type Case = {
  readonly name: string
  /** The Node.js packages in optionalDependencies. */
  readonly packages: Readonly<Record<string, string>>
  /** The text of the binary whose hash is known. */
  readonly known?: string
  /** The files in `node_modules`. */
  readonly files?: Readonly<Record<string, string>>
  /** A file that the link in the shared `node_modules` leads to, where the program is installed in that. */
  readonly shared?: { readonly link: string; readonly version: string }
  readonly code: number
  readonly stdout: RegExp
  readonly stderr: RegExp
}

const CASES: readonly Case[] = [
  {
    name: 'runs the Node.js that npm installed, and passes on arguments and exit code',
    packages: { [PACKAGE]: '99.0.0' },
    files: { '.bin/node': PACKAGED },
    code: 7,
    stdout: /^packaged: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs the Node.js that npm installed beside it',
    packages: { [PACKAGE]: '99.0.0' },
    shared: { link: PACKAGE, version: '99.0.0' },
    code: 7,
    stdout: /^packaged: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs no other version that npm installed beside it',
    packages: { [PACKAGE]: OWN },
    shared: { link: PACKAGE, version: '12.0.0' },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs no Node.js of another package beside it',
    packages: { [PACKAGE]: OWN },
    shared: { link: 'node', version: OWN },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs its own Node.js when there is no package for the platform',
    packages: { 'node-plan9-mips': OWN },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs its own Node.js when the package was not installed, even if some of its files exist',
    packages: { [PACKAGE]: OWN },
    files: { [`${PACKAGE}/bin/node`]: PACKAGED },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs the installed Node.js whose link npm has removed',
    packages: { [PACKAGE]: '99.0.0' },
    known: PACKAGED,
    files: { [`${PACKAGE}/bin/node`]: PACKAGED },
    code: 7,
    stdout: /^packaged: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs no binary without a link whose hash is another',
    packages: { [PACKAGE]: OWN },
    known: PACKAGED,
    files: { [`${PACKAGE}/bin/node`]: `${PACKAGED}# changed` },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs its own Node.js when the package’s cannot run',
    packages: { [PACKAGE]: OWN },
    files: { '.bin/node': UNUSABLE },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'runs its own Node.js when the package’s lacks a library',
    packages: { [PACKAGE]: OWN },
    files: { '.bin/node': INCOMPLETE },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
  },
  {
    name: 'reports which library the package’s Node.js lacks',
    packages: { [PACKAGE]: '99.1.0' },
    files: { '.bin/node': INCOMPLETE },
    code: 1,
    stdout: /^$/,
    stderr: /lacks libstdc\+\+\.so\.6: on Debian, apt-get install libstdc\+\+6\. Install/,
  },
  {
    name: 'reports what is missing on a platform without a package',
    packages: { 'node-plan9-mips': '99.1.0' },
    code: 1,
    stdout: /^$/,
    stderr: new RegExp(
      `^terse: Node\\.js 99\\.1\\.0 or newer is required, and this is ${OWN}\\. There is no package of it for ${PLATFORM}\\. Install .*\\n$`,
    ),
  },
  {
    name: 'reports what is missing when the package was not installed',
    packages: { [PACKAGE]: '99.1.0' },
    code: 1,
    stdout: /^$/,
    stderr: new RegExp(`npm has not installed ${PACKAGE}; with --loglevel=verbose it shows why`),
  },
  {
    name: 'reports what is missing when the package’s Node.js cannot run',
    packages: { [PACKAGE]: '99.1.0' },
    files: { '.bin/node': UNUSABLE },
    code: 1,
    stdout: /^$/,
    stderr: /The one that npm installed cannot run: ENOENT\. Install/,
  },
]

describe('bin/terse.js', () => {
  for (const { name, packages, known = '', files = {}, shared, ...expected } of CASES) {
    test(name, async (t) => {
      const project = mkdtempSync(path.join(tmpdir(), 'terse-launcher-'))
      t.after(() => rmSync(project, { recursive: true }))
      const around = path.join(project, 'node_modules')
      const folder = shared === undefined ? project : path.join(around, '@terse/server')
      const write = (file: string, text: string, below = folder) => {
        mkdirSync(path.dirname(path.join(below, file)), { recursive: true })
        writeFileSync(path.join(below, file), text, { mode: 0o755 })
      }
      write('package.json', manifestOf(packages, known))
      const isPackage = shared !== undefined
      for (const name of LAUNCHER) {
        const source = readFileSync(path.join(ROOT, name), 'utf8')
        write(name, isPackage ? compileModule(name, source) : source)
      }
      // A build that is not current: one that is missing would be reported.
      write('build/current.json', '{"folder":"other","sources":{"elsewhere":[0,0]},"files":{}}')
      write(`src/main.${isPackage ? 'js' : 'ts'}`, "console.log('own:', process.argv[2])")
      for (const [file, text] of Object.entries(files)) {
        write(`node_modules/${file}`, text)
      }
      if (shared !== undefined) {
        const { link, version } = shared
        write(`${link}/bin/node`, PACKAGED, around)
        write(`${link}/package.json`, JSON.stringify({ version }), around)
        mkdirSync(path.join(around, '.bin'))
        symlinkSync(`../${link}/bin/node`, path.join(around, '.bin/node'))
      }
      const { code, stdout, stderr } = await run(path.join(folder, 'bin/terse.js'))
      assert.equal(code, expected.code, stderr)
      assert.match(stdout, expected.stdout)
      assert.match(stderr, expected.stderr)
    })
  }
})

function manifestOf(packages: Case['packages'], known: string): string {
  const hash = createHash('sha256').update(known).digest('hex')
  const nodeHashes = Object.fromEntries(
    Object.entries(packages).map((one) => [one.join('@'), hash]),
  )
  return JSON.stringify({ type: 'module', optionalDependencies: packages, nodeHashes })
}

test('bin/terse.js creates the link again that npm has removed, beside the program or around it', async (t) => {
  for (const place of ['', 'node_modules/@terse/server']) {
    const project = mkdtempSync(path.join(tmpdir(), 'terse-launcher-'))
    t.after(() => rmSync(project, { recursive: true }))
    const folder = path.join(project, place)
    const launcher = copyLauncher(folder)
    writeFileSync(path.join(folder, 'package.json'), manifestOf({ [PACKAGE]: '99.0.0' }, PACKAGED))
    const installed = path.join(project, 'node_modules', PACKAGE, 'bin')
    mkdirSync(installed, { recursive: true })
    writeFileSync(path.join(installed, 'node'), PACKAGED, { mode: 0o755 })
    assert.equal((await run(launcher)).code, 7)
    const link = path.join(project, 'node_modules/.bin/node')
    assert.equal(readlinkSync(link), `../${PACKAGE}/bin/node`)
  }
})

/** What the installed Node.js does while the launcher is killed. */
const LONG_RUNNING =
  'console.log(process.pid, process.env.MALLOC_ARENA_MAX); setInterval(() => {}, 1_000)'

for (const { replaces, title } of [
  { replaces: true, title: 'becomes the process of the installed Node.js, with two arenas' },
  { replaces: false, title: 'ends the child process when killed, where it cannot become it' },
]) {
  test(`bin/terse.js ${title}`, async (t) => {
    const project = mkdtempSync(path.join(tmpdir(), 'terse-launcher-'))
    t.after(() => rmSync(project, { recursive: true }))
    const launcher = copyLauncher(project)
    writeFileSync(path.join(project, 'package.json'), manifestOf({ [PACKAGE]: OWN }, ''))
    mkdirSync(path.join(project, 'src'))
    writeFileSync(path.join(project, 'src/main.ts'), LONG_RUNNING)
    mkdirSync(path.join(project, 'node_modules/.bin'), { recursive: true })
    copyFileSync(process.execPath, path.join(project, 'node_modules/.bin/node'))
    // As in Node.js before 22.15.
    const older = ['--import', 'data:text/javascript,delete process.execve']
    const child = spawn(process.execPath, [...(replaces ? [] : older), launcher], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {},
    })
    const [printed] = await once(child.stdout.setEncoding('utf8'), 'data')
    const [pid, arenas] = printed.trim().split(' ')
    assert.equal(Number(pid) === child.pid, replaces)
    assert.equal(arenas, '2')
    child.kill('SIGKILL')
    // Its output is closed once no process has it any more.
    await once(child, 'close')
  })
}

/** Returns the launcher's copy in another folder. */
function copyLauncher(folder: string): string {
  mkdirSync(path.join(folder, 'bin'), { recursive: true })
  for (const name of LAUNCHER) copyFileSync(path.join(ROOT, name), path.join(folder, name))
  return path.join(folder, 'bin/terse.js')
}

function run(file: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [file, 'doctor'], (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr })
    })
  })
}

test('npx runs the program of the checkout, and installs nothing for it', async (t) => {
  const cache = mkdtempSync(path.join(tmpdir(), 'npm-cache-'))
  t.after(() => rmSync(cache, { recursive: true }))
  // With an empty cache, `--no` makes npx fail where it would have to install a package.
  const args = ['--no', '--cache', cache, '--', 'terse', '--version']
  const { stdout } = await promisify(execFile)('npx', args, { cwd: ROOT })
  assert.equal(stdout.trim(), VERSION)
})
