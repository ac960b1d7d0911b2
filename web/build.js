// Builds the dashboard into web/dist. npm runs this after `npm ci` (`prepare` in package.json).
// Plain JavaScript: any Node.js that npm runs with must be able to read it.
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const DIST = path.join(FOLDER, 'dist')
const COMPRESSIBLE = /\.(?:css|html|js|svg|txt)$/
/** As in src/platform/http/compression/compressible.ts: below this, compression saves no packet. */
const COMPRESSED_BYTES_MIN = 1024

/** As in src/platform/http/dashboard/built-files.ts. */
const HOW = 'To build it: npm ci --include=dev && npm run build\n'

if (existsSync(new URL('../node_modules/vite/package.json', import.meta.url))) await run()
else {
  process.stderr.write(
    'terse: the dashboard is not built, because npm left out the development packages. ' +
      `The API works without it. ${HOW}`,
  )
}

async function run() {
  // A killed build leaves the one before it in place.
  const next = `${DIST}.${process.pid}`
  try {
    const startedMs = performance.now()
    const { build } = await import('vite')
    await build({
      root: FOLDER,
      configFile: path.join(FOLDER, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: next, emptyOutDir: true },
    })
    await compressFiles(next)
    await rm(DIST, { recursive: true, force: true })
    await rename(next, DIST)
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    process.stdout.write(`terse: built the dashboard in ${seconds} s\n`)
  } catch (error) {
    await rm(next, { recursive: true, force: true })
    process.stderr.write(
      `terse: the dashboard could not be built: ${error?.stack ?? error}\n${HOW}`,
    )
    process.exitCode = 1
  }
}

/** Writes `.br` and `.gz` beside each file, so that the service compresses nothing. */
async function compressFiles(folder) {
  const names = await readdir(folder, { recursive: true })
  await Promise.all(
    names
      .filter((name) => COMPRESSIBLE.test(name))
      .map((name) => compress(path.join(folder, name))),
  )
}

async function compress(file) {
  const body = await readFile(file)
  if (body.length < COMPRESSED_BYTES_MIN) return
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  await Promise.all([
    writeFile(`${file}.br`, await promisify(brotliCompress)(body, { params })),
    writeFile(`${file}.gz`, await promisify(gzip)(body, { level: 9 })),
  ])
}
