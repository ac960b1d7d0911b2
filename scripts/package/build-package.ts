import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { copyBuild } from '../program/write-build.ts'
import { compiledName, compileModule } from './compile-module.ts'
import { closureOf, type LockedPackage, readLockfile } from './locked-packages.ts'
import { thirdPartyNotices } from './third-party-notices.ts'

/** `terse` was taken in the registry. The command is called `terse` all the same. */
const NAME = '@terse/server'
const SOURCE_FOLDERS = ['bin', 'client/src', 'contract', 'src']
/** Types alone, of which a megabyte of comments would be left. No module loads it. */
const TYPES = 'client/src/schema.ts'
const DASHBOARD = 'web/dist'
const BUILD = 'build'
/** Written by web/notices.ts: the folders of the packages that the dashboard contains. */
const DASHBOARD_PACKAGES = `${DASHBOARD}/.vite/packages.json`
const NOTICES = 'THIRD-PARTY-NOTICES.txt'
/** npm installs the versions and hashes that it names, and no others. */
const SHRINKWRAP = 'npm-shrinkwrap.json'
const COPIED = ['CHANGELOG.md', 'LICENSE']
const ENTRY = path.posix.join('bin', 'terse.js')

type Manifest = Readonly<Record<string, unknown>> & {
  readonly dependencies: Readonly<Record<string, string>>
}

/**
 * Writes the npm package into an empty folder: the program as JavaScript and as the build that starts faster, the
 * built dashboard, the licences, and the versions and hashes of all dependencies.
 *
 * @param root the repository, after `npm run build`
 */
export function buildPackage(root: string, folder: string): void {
  if (!existsSync(path.join(root, DASHBOARD_PACKAGES))) {
    throw new Error('the dashboard is not built; run: npm run build')
  }
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  for (const name of SOURCE_FOLDERS.flatMap((one) => sourcesBelow(root, one))) {
    write(compiledName(name), compileModule(name, readFileSync(path.join(root, name), 'utf8')))
  }
  chmodSync(path.join(folder, ENTRY), 0o755)
  cpSync(path.join(root, DASHBOARD), path.join(folder, DASHBOARD), {
    recursive: true,
    // What browsers are not sent.
    filter: (file) => !path.basename(file).startsWith('.'),
  })
  copyBuild(path.join(root, BUILD), path.join(folder, BUILD))
  for (const name of COPIED) cpSync(path.join(root, name), path.join(folder, name))

  const source: Manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const manifest = packageManifest(source)
  const lockfile = readLockfile(root)
  const installed = closureOf(lockfile, ['']).filter((one) => lockfile.get(one)?.dev !== true)
  const bundled: readonly string[] = JSON.parse(
    readFileSync(path.join(root, DASHBOARD_PACKAGES), 'utf8'),
  )
  write('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
  write(SHRINKWRAP, `${JSON.stringify(shrinkwrap(manifest, installed), null, 2)}\n`)
  write('README.md', readme(String(manifest.version)))
  const intro = 'Terse contains, or is installed with, the following packages.'
  write(NOTICES, `${thirdPartyNotices(root, lockfile, [...installed, ...bundled], intro)}\n`)

  function shrinkwrap(own: Manifest, folders: readonly string[]): object {
    const { name, version, license, dependencies, optionalDependencies, bin } = own
    const first = { name, version, license, dependencies, optionalDependencies, bin }
    const packages = folders.map((one) => [one, lockfile.get(one)] as [string, LockedPackage])
    return {
      name,
      version,
      lockfileVersion: 3,
      requires: true,
      packages: { '': first, ...Object.fromEntries(packages) },
    }
  }
}

function sourcesBelow(root: string, folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name))
    .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.test.ts') && name !== TYPES)
}

function packageManifest(source: Manifest): Manifest {
  const { version, description, license, dependencies, optionalDependencies, nodeHashes } = source
  const { '@terse/client': _client, '@terse/contract': _contract, ...others } = dependencies
  return {
    name: NAME,
    version,
    description,
    license,
    type: 'module',
    bin: { terse: ENTRY },
    files: [...SOURCE_FOLDERS, BUILD, 'web', NOTICES, 'CHANGELOG.md', SHRINKWRAP],
    dependencies: others,
    optionalDependencies,
    nodeHashes,
    publishConfig: { access: 'public', provenance: true },
  }
}

function readme(version: string): string {
  return `# Terse ${version}

Short links on your own domains: redirects, an exact click counter, a REST API and a dashboard in one process and
one folder of data.

\`\`\`sh
npm install --global ${NAME}
terse serve --data-dir ~/terse
\`\`\`

It runs on Linux with glibc and on macOS, on x64 and arm64, and brings its own Node.js. The first start prints a
token and a command that creates a link. The API reference is at \`/docs\` of your instance, the dashboard at \`/app\`.

Licence: MIT. ${NOTICES} has those of what it contains.
`
}
