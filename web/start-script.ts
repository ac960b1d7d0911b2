import path from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin, Rolldown } from 'vite'

const ENTRY = path.join(import.meta.dirname, 'src/start/start.ts')
const REFERENCE = path.join(import.meta.dirname, 'src/reference/reference.ts')
const SOURCES = path.join(import.meta.dirname, 'src')
/** Where the script goes in `index.html`. */
const PLACE = '<!-- start -->'

/**
 * Builds `src/start/` as one classic script in the head of the page, which runs before the first paint. Its element names
 * the code of the dashboard, which the script runs, and the files of each page and language that the browser can load
 * before it knows that code. Builds the script of the API reference too, whose page the service composes.
 */
export function startScript(): Plugin {
  let isBuild = false
  let reference = ''
  let code = ''
  return {
    name: 'terse-start',
    configResolved({ command }) {
      isBuild = command === 'build'
    },
    async buildStart() {
      if (!isBuild) return
      code = await bundled(ENTRY)
      reference = this.emitFile({ type: 'asset', name: 'start.js', source: code })
      // The service names it in the page of the API reference.
      this.emitFile({ type: 'asset', name: 'reference.js', source: await bundled(REFERENCE) })
    },
    generateBundle: {
      // After Vite has put the page into the bundle.
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html']
        if (page?.type !== 'asset') throw new Error('the build has no index.html')
        const files = JSON.stringify(filesOf(bundle, code)).replaceAll('"', '&quot;')
        const main = `/app/${entryOf(bundle).fileName}`
        const script = `<script src="/app/${this.getFileName(reference)}" data-main="${main}" data-files="${files}"></script>`
        const element = `<script type="module" crossorigin src="${main}"></script>`
        const html = String(page.source)
        if (!html.includes(element)) throw new Error(`index.html has no ${element}`)
        page.source = html
          .replace(PLACE, script)
          .replace(element, `<link rel="modulepreload" crossorigin href="${main}">`)
      },
    },
    async transformIndexHtml(html) {
      return isBuild ? html : html.replace(PLACE, `<script>${await bundled(ENTRY)}</script>`)
    },
  }
}

async function bundled(input: string): Promise<string> {
  const bundle = await rolldown({
    input,
    // It shares modules with the dashboard, and packages with nothing.
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
  })
  try {
    const { output } = await bundle.generate({ format: 'iife', minify: true })
    const [{ code, imports }] = output
    if (imports.length > 0) throw new Error(`${input} uses ${imports.join(', ')}`)
    return code
  } finally {
    await bundle.close()
  }
}

/** What languages, and the pages that the script names, need besides the files that `index.html` names. */
function filesOf(
  bundle: Rolldown.OutputBundle,
  code: string,
): Readonly<Record<string, readonly string[]>> {
  const chunks = chunksOf(bundle)
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  function withImports(fileName: string, seen = new Set<string>()): ReadonlySet<string> {
    if (seen.has(fileName)) return seen
    seen.add(fileName)
    for (const imported of byFile.get(fileName)?.imports ?? []) withImports(imported, seen)
    return seen
  }
  const initial = withImports(entryOf(bundle).fileName)
  const files: Record<string, readonly string[]> = {}
  for (const { facadeModuleId, fileName } of chunks) {
    if (facadeModuleId === null) continue
    const name = path.relative(SOURCES, facadeModuleId).replaceAll('\\', '/')
    if (!/^text\/[a-z]+\.ts$/.test(name) && !code.includes(name)) continue
    const others = [...withImports(fileName)].filter((one) => !initial.has(one))
    files[name] = others.map((one) => `/app/${one}`)
  }
  return files
}

function chunksOf(bundle: Rolldown.OutputBundle): readonly Rolldown.OutputChunk[] {
  return Object.values(bundle).filter((one) => one.type === 'chunk')
}

function entryOf(bundle: Rolldown.OutputBundle): Rolldown.OutputChunk {
  const entry = chunksOf(bundle).find(
    ({ isEntry, facadeModuleId }) => isEntry && facadeModuleId?.endsWith('index.html'),
  )
  if (entry === undefined) throw new Error('the build has no entry')
  return entry
}
