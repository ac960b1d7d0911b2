import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyPluginAsync } from 'fastify'
import { HttpRefusal } from '../api/problem.ts'
import { Asset, hashedName } from '../assets/asset.ts'
import type { Compressor } from '../compression/compressor.ts'

const PATH = '/docs'

/** The page loads everything from this service; its scripts write style attributes. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const FILES = [
  { url: swaggerUi('swagger-ui.css'), contentType: 'text/css; charset=utf-8' },
  { url: swaggerUi('index.css'), contentType: 'text/css; charset=utf-8' },
  { url: swaggerUi('favicon-32x32.png'), contentType: 'image/png' },
  { url: swaggerUi('swagger-ui-bundle.js'), contentType: 'text/javascript; charset=utf-8' },
  {
    url: new URL('./initializer.js', import.meta.url),
    contentType: 'text/javascript; charset=utf-8',
  },
]

/**
 * Serves the API reference: a page and Swagger UI's files that it loads. They are read at the first
 * request for the page, so that the start is not slower.
 */
export const referencePage: FastifyPluginAsync<{ readonly compressor: Compressor }> = async (
  app,
  { compressor },
) => {
  let loading: Promise<ReadonlyMap<string, Asset>> | undefined

  async function find(path: string): Promise<Asset> {
    loading ??= loadAssets(compressor)
    // After a failure, the next request reads the files again.
    loading.catch(() => {
      loading = undefined
    })
    const asset = (await loading).get(path)
    if (asset === undefined) throw new HttpRefusal('not_found', 'There is nothing at this address.')
    return asset
  }

  for (const url of [PATH, `${PATH}/`]) {
    app.get(url, { schema: { hide: true } }, async (request, reply) =>
      (await find(PATH)).send(request, reply),
    )
  }
  app.get<{ Params: { name: string } }>(
    `${PATH}/static/:name`,
    { schema: { hide: true } },
    async (request, reply) => (await find(staticPath(request.params.name))).send(request, reply),
  )
}

/** Loads the page, at its path, and its files, at paths that contain their hashes. */
async function loadAssets(compressor: Compressor): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>()
  const headers = { 'Content-Security-Policy': POLICY }
  const names = await Promise.all(
    FILES.map(async ({ url, contentType }) => {
      const body = await readFile(url)
      const name = staticPath(hashedName(path.basename(fileURLToPath(url)), body))
      assets.set(name, new Asset(compressor, { body, contentType, isImmutable: true, headers }))
      return name
    }),
  )
  const page = {
    body: Buffer.from(pageOf(names)),
    contentType: 'text/html; charset=utf-8',
    isImmutable: false,
    headers,
  }
  return assets.set(PATH, new Asset(compressor, page))
}

/** The scripts run in the order of `names`. */
function pageOf(names: readonly string[]): string {
  const links = names.flatMap((name) => {
    if (name.endsWith('.css')) return `<link rel="stylesheet" href="${name}">`
    if (name.endsWith('.js')) return `<script src="${name}" defer></script>`
    return `<link rel="icon" type="image/png" href="${name}">`
  })
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Terse API</title>
    ${links.join('\n    ')}
  </head>
  <body>
    <div id="swagger-ui"></div>
  </body>
</html>
`
}

function staticPath(name: string): string {
  return `${PATH}/static/${name}`
}

function swaggerUi(file: string): URL {
  return new URL(import.meta.resolve(`@fastify/swagger-ui/static/${file}`))
}
