import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasErrorCode } from '../../process/has-error-code.ts'
import { Asset } from '../assets/asset.ts'
import type { ContentCoding } from '../compression/compressible.ts'
import type { Compressor } from '../compression/compressor.ts'

/** Where `npm ci` builds the dashboard. */
export const DASHBOARD_FOLDER = fileURLToPath(new URL('../../../../web/dist/', import.meta.url))
export const PAGE = 'index.html'
/** The licences of what the dashboard contains. */
export const LICENCES = 'licences.txt'
/** Builds the dashboard where `npm ci` could not, or was told to leave out the development packages. */
export const BUILD_COMMAND = 'npm ci --include=dev && npm run build'

/** Returns the addresses of built files whose names match; none where the dashboard is not built. */
export async function addressesOfBuilt(
  name: RegExp,
  folder = DASHBOARD_FOLDER,
): Promise<readonly string[]> {
  try {
    const names = await readdir(path.join(folder, 'assets'))
    return names.filter((one) => name.test(one)).map((one) => `/app/assets/${one}`)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

export function isDashboardBuilt(folder = DASHBOARD_FOLDER): boolean {
  return existsSync(path.join(folder, PAGE))
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}
const SUFFIXES: readonly (readonly [string, ContentCoding])[] = [
  ['.br', 'br'],
  ['.gz', 'gzip'],
]

/**
 * Reads the files of the dashboard, each with its compressed forms.
 *
 * @returns the page as `index.html`, the others as they are named in their addresses; undefined when the
 *   dashboard has not been built
 */
export async function readBuiltFiles(
  folder: string,
  compressor: Compressor,
  pageHeaders: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Asset> | undefined> {
  let names: string[]
  try {
    names = (await readdir(folder, { recursive: true })).map((name) => name.replaceAll('\\', '/'))
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
  const assets = new Map<string, Asset>()
  const isPresent = new Set(names)
  const read = (name: string) => readFile(path.join(folder, name))
  for (const name of names) {
    const contentType = CONTENT_TYPES[path.extname(name)]
    // Names with a dot in front are not for browsers: the manifest of the build.
    if (contentType === undefined || name.startsWith('.')) continue
    const encoded = new Map<ContentCoding, Buffer>()
    for (const [suffix, coding] of SUFFIXES) {
      if (isPresent.has(name + suffix)) encoded.set(coding, await read(name + suffix))
    }
    const isPage = name === PAGE
    const headers = isPage ? pageHeaders : {}
    const body = await read(name)
    const options = { body, contentType, isImmutable: name.startsWith('assets/'), headers, encoded }
    assets.set(name, new Asset(compressor, options))
  }
  return assets.has(PAGE) ? assets : undefined
}
