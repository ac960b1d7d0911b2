import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
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
  readonly engines?: object
  readonly bin?: Readonly<Record<string, string>>
}

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const manifest = JSON.parse(read('package.json'))
const { '': root, ...locked }: Record<string, LockedPackage> = JSON.parse(
  read('package-lock.json'),
).packages

/** The workspaces of this repository. */
const OWN_PACKAGES = ['bin', 'client', 'contract', 'extension', 'web']
const REGISTRY = 'https://registry.npmjs.org/'
describe('the lockfile', () => {
  test('contains the hash of every package, and only packages of the public registry', () => {
    assert.ok(root !== undefined && Object.keys(locked).length > 100)
    const own = new Set(OWN_PACKAGES.flatMap((name) => [name, `node_modules/@terse/${name}`]))
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

  test('is accompanied by the hash of each Node.js binary', () => {
    const names = Object.entries(manifest.optionalDependencies).map((one) => one.join('@'))
    assert.deepEqual(Object.keys(manifest.nodeHashes).sort(), names.sort(), 'run: npm run generate')
    const { [`node-${process.platform}-${process.arch}@${process.versions.node}`]: known } =
      manifest.nodeHashes
    const running = createHash('sha256').update(readFileSync(process.execPath)).digest('hex')
    if (known !== undefined) assert.equal(running, known)
  })

  test('lets no version of npm or Node.js leave out a package for its platform', () => {
    const forPlatforms = Object.values(locked).filter((one) => one.optional && one.os)
    assert.ok(forPlatforms.length > 30)
    const bounded = forPlatforms.filter((one) => one.engines)
    assert.deepEqual(bounded, [], 'run: npm run generate')
  })

  test('mentions no install script, so that versions of npm without allowScripts run none', () => {
    const withScript = Object.entries(locked).filter(([, one]) => one.hasInstallScript)
    assert.deepEqual(withScript, [], 'run: npm run generate')
  })
})

test('every package with an install script is denied it, and our own prepare is the only script', () => {
  assert.match(read('.npmrc'), /^strict-allow-scripts=true$/m)
  for (const [name, isAllowed] of Object.entries(manifest.allowScripts)) {
    assert.equal(isAllowed, false, name)
    assert.ok(locked[`node_modules/${name}`], `${name} is no longer installed`)
  }
  for (const name of ['preinstall', 'install', 'postinstall', 'pretest', 'prestart']) {
    assert.equal(manifest.scripts[name], undefined, name)
  }
  assert.equal(
    manifest.scripts.prepare,
    'node bin/terse.js --version && hash -r && node scripts/build-program.ts && node web/build.js',
  )
})
