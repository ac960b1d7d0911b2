import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'

/**
 * Compares what browsers load with the budgets, in bytes as sent with brotli. It reads the build of
 * `npm ci`; after a change to the dashboard, run `npm run build` first.
 */
const INITIAL_BYTES_MAX = 170_000
const PAGE_BYTES_MAX = 42_000
const CSS_BYTES_MAX = 20_000
/** What /docs loads besides its page and its fonts. */
const REFERENCE_BYTES_MAX = 6_000
/** The page of the dashboard. */
const ENTRY = 'index.html'

type Chunk = {
  readonly file: string
  readonly isDynamicEntry?: boolean
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}

const dist = new URL('./dist/', import.meta.url)
const manifest: Readonly<Record<string, Chunk>> = await readManifest()
if (manifest[ENTRY] === undefined) throw new Error('the manifest has no entry')
const initial = new Set(withImports(ENTRY))
/** With the classic scripts, which the manifest has not. */
const assets = await readdir(new URL('assets/', dist))
const named = (name: RegExp) => assets.filter((one) => name.test(one)).map((one) => `assets/${one}`)

await check(
  'initial JavaScript',
  [...initial].map(fileOf).concat(named(/^start-.*\.js$/)),
  INITIAL_BYTES_MAX,
)
const styles = Object.values(manifest).flatMap(({ css = [] }) => css)
await check('CSS', [...new Set(styles)], CSS_BYTES_MAX)
await check('files of the reference', named(/^reference-.*\.(?:css|js)$/), REFERENCE_BYTES_MAX)
for (const [name, { isDynamicEntry }] of Object.entries(manifest)) {
  if (!isDynamicEntry) continue
  const files = withImports(name).filter((one) => !initial.has(one))
  await check(name, files.map(fileOf), PAGE_BYTES_MAX)
}

async function readManifest() {
  try {
    return JSON.parse(await readFile(new URL('.vite/manifest.json', dist), 'utf8'))
  } catch {
    throw new Error('the dashboard is not built; run: npm run build')
  }
}

/** The chunk, and all that it cannot run without. */
function withImports(name: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(name)) return []
  seen.add(name)
  for (const one of manifest[name]?.imports ?? []) withImports(one, seen)
  return [...seen]
}

function fileOf(name: string): string {
  return manifest[name]?.file ?? ''
}

async function check(name: string, files: readonly string[], bytesMax: number): Promise<void> {
  const sizes = await Promise.all(files.map(bytesSent))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const line = `${name}: ${(bytes / 1_000).toFixed(1)} of ${bytesMax / 1_000} kB\n`
  process.stdout.write(line)
  if (bytes > bytesMax) process.exitCode = 1
}

async function bytesSent(file: string): Promise<number> {
  return (await promisify(brotliCompress)(await readFile(new URL(file, dist)))).length
}
