import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { VERSION } from '../../src/platform/process/version.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LAUNCHER = path.join(ROOT, 'bin/terse.js')
const PLATFORM = `${process.platform}-${process.arch}`
const PACKAGE = `node-${PLATFORM}`
const OWN = process.versions.node
const PACKAGED = '#!/bin/sh\necho "packaged: $2"\nexit 7\n'
/** Like a program for another C library: its interpreter does not exist. */
const UNUSABLE = '#!/nowhere/ld-linux.so\n'

type Case = {
  readonly name: string
  /** The Node.js packages in optionalDependencies. */
  readonly packages: Readonly<Record<string, string>>
  /** The files in `node_modules`. */
  readonly files?: Readonly<Record<string, string>>
  readonly code: number
  readonly stdout: RegExp
  readonly stderr: RegExp
}

const CASES: readonly Case[] = [
  {
    name: 'runs the Node.js that npm ci installed, and passes on arguments and exit code',
    packages: { [PACKAGE]: '99.0.0' },
    files: { '.bin/node': PACKAGED },
    code: 7,
    stdout: /^packaged: doctor\n$/,
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
    name: 'runs its own Node.js when the package’s cannot run',
    packages: { [PACKAGE]: OWN },
    files: { '.bin/node': UNUSABLE },
    code: 0,
    stdout: /^own: doctor\n$/,
    stderr: /^$/,
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
    stderr: new RegExp(`npm ci has not installed ${PACKAGE}; npm ci --loglevel=verbose shows why`),
  },
  {
    name: 'reports what is missing when the package’s Node.js cannot run',
    packages: { [PACKAGE]: '99.1.0' },
    files: { '.bin/node': UNUSABLE },
    code: 1,
    stdout: /^$/,
    stderr: /The one that npm ci installed cannot run: ENOENT\. Install/,
  },
]

describe('bin/terse.js', () => {
  for (const { name, packages, files = {}, ...expected } of CASES) {
    test(name, async (t) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'terse-launcher-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const write = (file: string, text: string) => {
        mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
        writeFileSync(path.join(folder, file), text)
      }
      write('package.json', JSON.stringify({ type: 'module', optionalDependencies: packages }))
      write('src/main.ts', "console.log('own:', process.argv[2])")
      write('bin/terse.js', '')
      copyFileSync(LAUNCHER, path.join(folder, 'bin/terse.js'))
      for (const [file, text] of Object.entries(files)) {
        write(`node_modules/${file}`, text)
        chmodSync(path.join(folder, 'node_modules', file), 0o755)
      }
      const { code, stdout, stderr } = await run(path.join(folder, 'bin/terse.js'))
      assert.equal(code, expected.code, stderr)
      assert.match(stdout, expected.stdout)
      assert.match(stderr, expected.stderr)
    })
  }
})

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
