import { statSync } from 'node:fs'
import path from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'

/** Each build has a folder of its own in `build`, so addresses in it go up two folders. */
const ANY_BUILD = 'build/any'
const MAIN = 'src/main.ts'
/** Evaluated first in every process and thread. */
const STACKS = 'src/platform/process/source-stacks.ts'
/** npm writes it whenever it changes a package. */
const INSTALLED = 'node_modules/.package-lock.json'
/** What a thread, a process or a page loads by its address, or the address of the module itself. */
const ADDRESS = /new URL\('(\.[^'\n]*)', import\.meta\.url\)|import\.meta\.url/g

type BuiltFile = { readonly name: string; readonly text: string }

/** The modification time in milliseconds and the size in bytes. */
type Stamp = readonly [modifiedMs: number, bytes: number]

export type Bundle = {
  readonly files: readonly BuiltFile[]
  /** The stamps of our own files in it, npm's list of packages and this file, by their paths from the root. */
  readonly sources: Readonly<Record<string, Stamp>>
}

/**
 * Puts the program and the packages that it uses into few files with source maps. Nothing is renamed.
 * V8 keeps the text of what it has loaded, with two bytes a character if one of them is not ASCII, so the files have
 * no comments and escape what is not ASCII.
 *
 * @throws if a source changes meanwhile
 */
export async function bundleProgram(root: string): Promise<Bundle> {
  // Another build of the same sources differs too.
  const inputs = [INSTALLED, relativePath(root, import.meta.filename)]
  const stamps = new Map(inputs.map((name) => [name, stampOf(path.join(root, name))]))
  const build = await rolldown({
    cwd: root,
    input: { main: MAIN, 'source-stacks': STACKS },
    platform: 'node',
    // pg tries to load it; it is not installed.
    external: ['pg-native'],
    plugins: [stampSources(root, stamps), moveAddresses(root)],
  })
  const { output } = await build.generate({
    dir: path.join(root, ANY_BUILD),
    format: 'esm',
    sourcemap: 'hidden',
    // Comments with a licence are left out too: each package has a file of its licence.
    comments: false,
    minify: {
      compress: false,
      mangle: false,
      codegen: { removeWhitespace: true, asciiOnly: true },
    },
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    banner: ({ isEntry, name }) =>
      isEntry && name !== 'source-stacks' ? "import './source-stacks.js'" : '',
  })
  await build.close()
  for (const [name, stamp] of stamps) {
    if (String(stamp) !== String(stampOf(path.join(root, name)))) {
      throw new Error(`${name} was changed during the build`)
    }
  }
  const chunks = output.filter((one): one is OutputChunk => one.type === 'chunk')
  return { sources: Object.fromEntries([...stamps].sort()), files: chunks.flatMap(filesOf) }
}

/** Takes the stamp of each of our own files before it is read. */
function stampSources(root: string, stamps: Map<string, Stamp>): Plugin {
  return {
    name: 'stamp-sources',
    load(id) {
      if (isOwn(id)) stamps.set(relativePath(root, id), stampOf(id))
      return null
    },
  }
}

/** Makes scripts of threads and processes part of the build, and has other addresses lead to the sources. */
function moveAddresses(root: string): Plugin {
  const built = path.join(root, ANY_BUILD)
  return {
    name: 'move-addresses',
    transform(code, id) {
      if (!isOwn(id) || !code.includes('import.meta.url')) return null
      const moved = code.replace(ADDRESS, (_all, address: string | undefined) => {
        if (address === undefined) {
          return `new URL('${relativePath(built, id)}', import.meta.url).href`
        }
        const file = path.join(path.dirname(id), address)
        if (!file.endsWith('.ts')) {
          const folderMark = address.endsWith('/') ? '/' : ''
          return `new URL('${relativePath(built, file)}${folderMark}', import.meta.url)`
        }
        const fileName = `${path.basename(file, '.ts')}.js`
        this.emitFile({ type: 'chunk', id: file, fileName })
        return `new URL('./${fileName}', import.meta.url)`
      })
      // No line moves.
      return { code: moved, map: null }
    },
  }
}

/** Whether it is the path of a file of the project, not of a package. */
function isOwn(id: string): boolean {
  return path.isAbsolute(id) && !/[\\/]node_modules[\\/]/.test(id)
}

function relativePath(from: string, to: string): string {
  return path.relative(from, to).replaceAll(path.sep, '/')
}

function stampOf(file: string): Stamp {
  const { mtimeMs, size } = statSync(file)
  return [mtimeMs, size]
}

/** Returns the file and its map. The map names the sources; it does not contain them. */
function filesOf({ fileName, code, map }: OutputChunk): readonly BuiltFile[] {
  const file = { name: fileName, text: code }
  if (map === null) return [file]
  const { version, sources, names, mappings } = map
  const text = JSON.stringify({ version, file: fileName, sources, names, mappings })
  return [file, { name: `${fileName}.map`, text }]
}
