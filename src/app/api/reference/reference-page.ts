import type { FastifyPluginAsync } from 'fastify'
import { Asset } from '../../../platform/http/assets/asset.ts'
import type { Compressor } from '../../../platform/http/compression/compressor.ts'
import { addressesOfBuilt } from '../../../platform/http/dashboard/built-files.ts'
import type { ApiDescription } from './description.ts'
import { referenceHtml } from './page.ts'

const PATH = '/docs'

/** The page loads styles, fonts and a script of the dashboard, and requests nothing else. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
}

type ReferenceOptions = {
  readonly compressor: Compressor
  readonly describe: () => ApiDescription
  /** Where the built files of the dashboard are; for tests. */
  readonly folder?: string
}

/** Serves the reference of the API. It is composed at the first request for it, so that the start is not slower. */
export const referencePage: FastifyPluginAsync<ReferenceOptions> = async (
  app,
  { compressor, describe, folder },
) => {
  let composing: Promise<Asset> | undefined

  async function compose(): Promise<Asset> {
    const [scripts, styles, icons] = await Promise.all([
      addressesOfBuilt(/^reference-.*\.js$/, folder),
      addressesOfBuilt(/^reference-.*\.css$/, folder),
      addressesOfBuilt(/^mark-.*\.svg$/, folder),
    ])
    // Where the dashboard is not built, or the page failed, the next request composes it again.
    if (scripts.length === 0) composing = undefined
    return new Asset(compressor, {
      body: Buffer.from(await referenceHtml(describe(), { scripts, styles, icons })),
      contentType: 'text/html; charset=utf-8',
      isImmutable: false,
      headers: HEADERS,
    })
  }

  // The document is generated synchronously: when the time limit could apply, it is already complete.
  const options = { schema: { hide: true }, config: { mayTakeLong: true } } as const
  for (const url of [PATH, `${PATH}/`]) {
    app.get(url, options, async (request, reply) => {
      composing ??= compose()
      composing.catch(() => {
        composing = undefined
      })
      return (await composing).send(request, reply)
    })
  }
}
