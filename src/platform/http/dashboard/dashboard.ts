import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { HttpRefusal } from '../api/problem.ts'
import type { Asset } from '../assets/asset.ts'
import type { Compressor } from '../compression/compressor.ts'
import { BUILD_COMMAND, DASHBOARD_FOLDER, LICENCES, PAGE, readBuiltFiles } from './built-files.ts'

const PATH = '/app'

/**
 * Everything comes from this service. `blob:` and `data:` are pictures that the page has made itself: a QR
 * code with a logo.
 */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; " +
    "frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
}

/** Shown in place of the dashboard when `npm ci` could not build it. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Terse</title>
  </head>
  <body>
    <h1>The dashboard is not built</h1>
    <p>Redirects and the <a href="/docs">API</a> work. To build the dashboard, run this in the program’s folder:</p>
    <pre>${BUILD_COMMAND.replaceAll('&', '&amp;')}</pre>
    <p>Then load this page again. The service need not be restarted.</p>
  </body>
</html>
`

type DashboardOptions = {
  readonly compressor: Compressor
  /** Where the built files are; for tests. */
  readonly folder?: string
}

/**
 * Serves the dashboard from memory: its files at `/app/assets/…`, the licences of what it contains, and the page at every other path below
 * `/app`. The files are read at the first request, so that the start is not slower.
 */
export const dashboard: FastifyPluginAsync<DashboardOptions> = async (
  app,
  { compressor, folder = DASHBOARD_FOLDER },
) => {
  let loading: Promise<ReadonlyMap<string, Asset> | undefined> | undefined

  async function load(): Promise<ReadonlyMap<string, Asset> | undefined> {
    loading ??= readBuiltFiles(folder, compressor, HEADERS)
    const again = () => {
      loading = undefined
    }
    // Where it has not been built, or cannot be read, the next request looks again.
    loading.then((assets) => assets ?? again(), again)
    return loading
  }

  const hidden = { schema: { hide: true } }
  async function sendFile(name: string, request: FastifyRequest, reply: FastifyReply) {
    const asset = (await load())?.get(name)
    if (asset === undefined) throw new HttpRefusal('not_found', 'There is nothing at this address.')
    return asset.send(request, reply)
  }
  app.get<{ Params: { '*': string } }>(`${PATH}/assets/*`, hidden, (request, reply) =>
    sendFile(`assets/${request.params['*']}`, request, reply),
  )
  app.get(`${PATH}/${LICENCES}`, hidden, (request, reply) => sendFile(LICENCES, request, reply))
  for (const url of [PATH, `${PATH}/*`]) {
    app.get(url, hidden, async (request, reply) => {
      const page = (await load())?.get(PAGE)
      if (page !== undefined) return page.send(request, reply)
      reply.headers({ ...HEADERS, 'Cache-Control': 'no-store' })
      return reply.code(503).type('text/html; charset=utf-8').send(NOT_BUILT)
    })
  }
}
