import path from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type Rolldown } from 'vite'
import { noticesPlugin } from './notices.ts'
import { startScript } from './start-script.ts'
import { worldMapPlugin } from './world-map.ts'

/** Where a dashboard that is being developed finds the API: the address that `npm start` prints. */
const API = process.env['TERSE_API'] ?? 'http://localhost:3000'

/** What menus, tooltips and messages are made with. Dialogs have parts of their own, which menus need not load. */
const LAYERS = /node_modules\/@(?:base-ui|floating-ui)\/(?!react\/dialog\/)/

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [
    react(),
    tailwindcss(),
    startScript(),
    fontPreload(),
    installable(),
    worldMapPlugin(),
    noticesPlugin(),
  ],
  build: {
    manifest: true,
    // The policy of the page allows no data: URL in styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The browsers of 2024, the first that all have light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    reportCompressedSize: false,
    // Before compression; `check-size.ts` has the budgets.
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      // The second has the styles of the API reference, a page of the service.
      input: [
        path.join(import.meta.dirname, 'index.html'),
        path.join(import.meta.dirname, 'src/reference/reference.css'),
      ],
      output: {
        codeSplitting: {
          groups: [
            // What every page needs is one file: as some forty shared ones it took a phone a second longer to load.
            { name: initialChunk(), debugName: 'app' },
            // So is what layers above pages share, and what pages share.
            { name: 'layers', test: LAYERS, minShareCount: 2 },
            {
              name: 'shared',
              test: /web\/src\/(?:api|shell|state|widgets|text)\//,
              minShareCount: 4,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': API } },
})

/** Names the chunk of the modules that the start imports, but for the start itself. */
function initialChunk() {
  const start = path.join(import.meta.dirname, 'src/main.tsx')
  const initial = new Set<string>()
  function add(id: string, context: Rolldown.ChunkingContext): void {
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) {
      if (initial.has(imported)) continue
      initial.add(imported)
      add(imported, context)
    }
  }
  return (id: string, context: Rolldown.ChunkingContext) => {
    if (initial.size === 0) add(start, context)
    return initial.has(id) ? 'app' : null
  }
}

/** Has the font of all texts loaded with the styles: texts that change their font move what is below them. */
function fontPreload(): Plugin {
  return {
    name: 'terse-font',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html']
        const font = Object.keys(bundle).find((name) => /geist-latin-wght.*woff2$/.test(name))
        if (page?.type !== 'asset' || font === undefined) throw new Error('the build has no font')
        const link = `<link rel="preload" href="/app/${font}" as="font" type="font/woff2" crossorigin>`
        page.source = String(page.source).replace('<!-- font -->', link)
      },
    },
  }
}

/** Lets browsers install the dashboard as an app, to which other apps of a phone share addresses. */
function installable(): Plugin {
  return {
    name: 'terse-installable',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html']
        const icon = Object.keys(bundle).find((name) => /mark-.*svg$/.test(name))
        if (page?.type !== 'asset' || icon === undefined) throw new Error('the build has no icon')
        const manifest = {
          id: '/app/',
          name: 'Terse',
          short_name: 'Terse',
          start_url: '/app/links',
          scope: '/app/',
          display: 'standalone',
          background_color: '#ffffff',
          theme_color: '#ffffff',
          icons: [{ src: `/app/${icon}`, sizes: 'any', type: 'image/svg+xml' }],
          // Apps put the address into the text as often as where it belongs.
          share_target: {
            action: '/app/links/new',
            method: 'GET',
            params: { url: 'url', text: 'text' },
          },
        }
        const file = this.emitFile({
          type: 'asset',
          name: 'app.webmanifest',
          source: JSON.stringify(manifest),
        })
        const link = `<link rel="manifest" href="/app/${this.getFileName(file)}">`
        page.source = String(page.source).replace('<!-- manifest -->', link)
      },
    },
  }
}
