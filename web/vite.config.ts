import { readFile } from 'node:fs/promises'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { worldMapPlugin } from './world-map.ts'

/** Where a dashboard that is being developed finds the API: the address that `npm start` prints. */
const API = process.env['TERSE_API'] ?? 'http://localhost:3000'

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), tailwindcss(), themeScript(), worldMapPlugin(), packageList()],
  build: {
    manifest: true,
    // The policy of the page allows no data: URL in styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Those of 2024, the first that all have light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': API } },
})

/** Loads `theme-script.js` in the head as a small classic script, which runs before the first paint. */
function themeScript(): Plugin {
  const load = () => readFile(new URL('./theme-script.js', import.meta.url), 'utf8')
  let isBuild = false
  let reference = ''
  return {
    name: 'terse-theme',
    configResolved({ command }) {
      isBuild = command === 'build'
    },
    async buildStart() {
      if (!isBuild) return
      reference = this.emitFile({ type: 'asset', name: 'theme.js', source: await load() })
    },
    generateBundle: {
      // After Vite has put the page into the bundle.
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html']
        if (page?.type !== 'asset') throw new Error('the build has no index.html')
        const script = `<script src="/app/${this.getFileName(reference)}"></script>`
        page.source = String(page.source).replace('<!-- theme -->', script)
      },
    },
    async transformIndexHtml(html) {
      return isBuild ? html : html.replace('<!-- theme -->', `<script>${await load()}</script>`)
    },
  }
}

/** Writes `.vite/packages.json`: the folders of the packages that the build contains, whose licences go with it. */
function packageList(): Plugin {
  const DATA = [
    'tailwindcss',
    '@fontsource-variable/geist',
    '@fontsource-variable/geist-mono',
    'world-atlas',
  ]
  return {
    name: 'terse-packages',
    apply: 'build',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((one) =>
        one.type === 'chunk' ? one.moduleIds : [],
      )
      const folders = modules.flatMap(
        (id) => /\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [],
      )
      const data = DATA.map((name) => `node_modules/${name}`)
      const source = JSON.stringify([...new Set([...folders, ...data])].sort())
      this.emitFile({ type: 'asset', fileName: '.vite/packages.json', source })
    },
  }
}
