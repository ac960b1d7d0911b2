import {
  cpSync,
  createWriteStream,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { PNG } from 'pngjs'
import { rolldown } from 'rolldown'
import yazl from 'yazl'
import { readLockfile } from './package/locked-packages.ts'
import { thirdPartyNotices } from './package/third-party-notices.ts'

/**
 * Builds the browser extension into extension/dist: one folder for Chromium and one for Firefox, which differ in their
 * manifests alone, and a zip file of each.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = path.join(ROOT, 'extension')
const DIST = path.join(SOURCES, 'dist')
const FONT = 'node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2'
/** Matches a file of an installed package; captures its folder, as in the lockfile. */
const PACKAGE = /(?:^|\/)(node_modules\/(?:@[^/]+\/)?[^/]+)\//
/** As in web/vite.config.ts: the browsers of 2024. */
const TARGET = ['chrome127', 'firefox128']
const ICON_SIZES = [16, 32, 48, 128] as const
/** Builds with the same content have the same bytes. */
const ZIP_TIME = new Date(2026, 0, 1)

export const BROWSERS = ['chromium', 'firefox'] as const
type Browser = (typeof BROWSERS)[number]

/** The manifest for a browser. Each permission that is added here needs its reason in docs/browser-extension.md. */
export function manifestFor(browser: Browser, version: string) {
  const icons = Object.fromEntries(ICON_SIZES.map((size) => [size, `icons/${size}.png`]))
  const worker = 'background.js'
  return {
    manifest_version: 3,
    ...{ name: '__MSG_name__', description: '__MSG_description__', version },
    ...{ default_locale: 'en', icons },
    action: { default_popup: 'popup.html', default_icon: icons },
    options_ui: { page: 'options.html', open_in_tab: true },
    background:
      browser === 'chromium'
        ? { service_worker: worker, type: 'module' }
        : { scripts: [worker], type: 'module' },
    permissions: ['activeTab', 'storage'],
    // Of all that may be asked for, the extension asks for the one service that the person names.
    optional_host_permissions: ['https://*/*', 'http://*/*'],
    commands: {
      _execute_action: {
        suggested_key: { default: 'Alt+Shift+S' },
        description: '__MSG_commandOpen__',
      },
      'make-and-copy': {
        suggested_key: { default: 'Alt+Shift+L' },
        description: '__MSG_commandAtOnce__',
      },
    },
    content_security_policy: {
      extension_pages:
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src blob:; " +
        "connect-src https: http:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    },
    ...(browser === 'chromium'
      ? { minimum_chrome_version: '127' }
      : {
          browser_specific_settings: {
            gecko: {
              id: 'extension@terse.invalid',
              strict_min_version: '128.0',
              data_collection_permissions: { required: ['none'] },
            },
          },
        }),
  }
}

/** Builds into a folder, and returns the folders of the browsers. */
export async function buildExtension(dist = DIST): Promise<Readonly<Record<Browser, string>>> {
  const next = `${dist}.${process.pid}`
  rmSync(next, { recursive: true, force: true })
  const { version } = JSON.parse(readFileSync(path.join(SOURCES, 'package.json'), 'utf8'))
  for (const browser of BROWSERS) {
    const folder = path.join(next, browser)
    mkdirSync(folder, { recursive: true })
    if (browser === BROWSERS[0]) await writeParts(folder)
    else cpSync(path.join(next, BROWSERS[0]), folder, { recursive: true })
    const manifest = JSON.stringify(manifestFor(browser, version), null, 2)
    writeFileSync(path.join(folder, 'manifest.json'), `${manifest}\n`)
    await zip(folder, path.join(next, `terse-${browser}-${version}.zip`))
  }
  // A killed build leaves the one before it in place.
  rmSync(dist, { recursive: true, force: true })
  renameSync(next, dist)
  return { chromium: path.join(dist, 'chromium'), firefox: path.join(dist, 'firefox') }
}

async function writeParts(folder: string): Promise<void> {
  await using built = await rolldown({
    input: ['background', 'popup', 'options'].map((name) => path.join(SOURCES, `src/${name}.ts`)),
    cwd: ROOT,
    platform: 'browser',
    treeshake: true,
    transform: { target: TARGET },
  })
  const options = { dir: folder, minify: true, chunkFileNames: '[name].js' }
  const { output } = await built.write(options)
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
  writeFileSync(path.join(folder, 'licences.txt'), licencesOf([...modules, FONT]))
  for (const name of ['popup.html', 'options.html', '_locales']) {
    cpSync(path.join(SOURCES, name), path.join(folder, name), { recursive: true })
  }
  const styles = ['web/src/styles/tokens.css', 'extension/extension.css']
  const css = styles.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('')
  writeFileSync(path.join(folder, 'extension.css'), css)
  cpSync(path.join(ROOT, FONT), path.join(folder, 'geist.woff2'))
  mkdirSync(path.join(folder, 'icons'))
  for (const size of ICON_SIZES) {
    writeFileSync(path.join(folder, 'icons', `${size}.png`), drawIcon(size))
  }
}

/** Returns the licences of the packages that files are of. */
function licencesOf(files: readonly string[]): string {
  const folders = files.flatMap((file) => PACKAGE.exec(file)?.slice(1) ?? [])
  const packages = [...new Set(folders)].sort()
  const intro = 'The browser extension of Terse contains parts of the following packages.'
  return `${thirdPartyNotices(ROOT, readLockfile(ROOT), packages, intro)}\n`
}

type Color = readonly [number, number, number]

/** The shapes of web/mark.svg on a dark square, which shows on light and dark bars of browsers. */
const SHAPES: readonly { readonly color: Color; has(x: number, y: number): boolean }[] = [
  { color: [23, 25, 29], has: (x, y) => isInBox(x, y, [0, 0, 24, 24], 5) },
  { color: [255, 255, 255], has: (x, y) => isInBox(x, y, [4.5, 5.5, 18.5, 9], 0.9) },
  { color: [255, 255, 255], has: (x, y) => isInBox(x, y, [9.6, 5.5, 13.4, 18.8], 0.9) },
  { color: [62, 207, 155], has: (x, y) => Math.hypot(x - 17, y - 16.9) < 2.1 },
]

function isInBox(
  x: number,
  y: number,
  [left, top, right, bottom]: readonly [number, number, number, number],
  radius: number,
): boolean {
  const dx = Math.max(left + radius - x, 0, x - (right - radius))
  const dy = Math.max(top + radius - y, 0, y - (bottom - radius))
  return Math.hypot(dx, dy) <= radius
}

const SAMPLES = 4

/** Draws the icon as PNG, which Chromium requires. Each pixel is the mean of 16 samples. */
function drawIcon(size: number): Buffer {
  const png = new PNG({ width: size, height: size })
  for (let index = 0; index < size * size; index += 1) {
    const sums = [0, 0, 0, 0]
    for (let sample = 0; sample < SAMPLES ** 2; sample += 1) {
      const at = (pixel: number, nth: number) => ((pixel + (nth + 0.5) / SAMPLES) * 24) / size
      const x = at(index % size, sample % SAMPLES)
      const y = at(Math.floor(index / size), Math.floor(sample / SAMPLES))
      const color = SHAPES.findLast((shape) => shape.has(x, y))?.color
      if (color === undefined) continue
      for (const [nth, value] of [...color, 255].entries()) sums[nth] = (sums[nth] ?? 0) + value
    }
    const [, , , alpha = 0] = sums
    const covered = Math.max(alpha / 255, 1)
    const [red = 0, green = 0, blue = 0] = sums.map((sum) => Math.round(sum / covered))
    png.data.set([red, green, blue, Math.round(alpha / SAMPLES ** 2)], index * 4)
  }
  return PNG.sync.write(png)
}

async function zip(folder: string, file: string): Promise<void> {
  const archive = new yazl.ZipFile()
  for (const name of globSync('**/*.*', { cwd: folder }).sort()) {
    archive.addFile(path.join(folder, name), name, { mtime: ZIP_TIME })
  }
  archive.end()
  await pipeline(archive.outputStream, createWriteStream(file))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await buildExtension()
  process.stdout.write(`terse: built the browser extension: ${DIST}\n`)
}
