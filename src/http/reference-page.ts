import fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { HttpRefusal } from './problem.ts'

const PATH = '/docs'

/** The page needs nothing from elsewhere; its own scripts write style attributes. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** What an answer of the page has anew on its way out. */
const OWN_HEADERS = ['connection', 'content-length', 'date', 'transfer-encoding']

/**
 * The API reference for people. It is an application of its own, made when somebody first asks for it: what
 * serves it would be a sixth of all that a server loads when it starts.
 */
export const referencePage: FastifyPluginAsync = async (app) => {
  let page: Promise<FastifyInstance> | undefined

  app.addHook('onClose', async () => {
    await (await page)?.close()
  })

  for (const url of [PATH, `${PATH}/*`]) {
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      page ??= buildPage(app)
      const { headers, url } = request
      const answer = await (await page).inject({ method: 'GET', url, headers })
      if (answer.statusCode >= 400) throw new HttpRefusal('not_found', 'There is nothing there.')
      for (const name of OWN_HEADERS) delete answer.headers[name]
      return reply.code(answer.statusCode).headers(answer.headers).send(answer.rawPayload)
    })
  }
}

async function buildPage(app: FastifyInstance): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ])
  const page = fastify()
  // The page insists on a description of the application that it is part of.
  await page.register(swagger)
  await page.register(swaggerUi, {
    routePrefix: PATH,
    transformSpecification: () => app.swagger(),
    staticCSP: true,
    transformStaticCSP: () => POLICY,
    theme: { title: 'Terse API' },
    // Without the top bar, which offers to load the description of any other API.
    uiConfig: { layout: 'BaseLayout', tryItOutEnabled: true },
  })
  await page.ready()
  return page
}
