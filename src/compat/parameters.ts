import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Parameters of a request, from its query and its body. */
export type Parameters = Readonly<Record<string, string | undefined>>

/** Takes forms of either type. Other bodies than these, and than those that the context takes by itself, are left out. */
export function takeForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, body: Buffer) =>
      parseForm(headers['content-type'] ?? '', body),
  )
}

/** Returns the parameters of the query and the body. Those of the body take precedence. */
export function parametersOf({ query, body }: FastifyRequest): Parameters {
  return textsOf({ ...(query as object), ...((body ?? {}) as object) })
}

/** Returns the values as texts: the last one of each name, as in PHP. */
export function textsOf(values: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, String([value ?? ''].flat().at(-1))]),
  )
}

/**
 * Reads the parameters in a body as PHP does: of a form of either type. A body of another type has none, and neither
 * has a damaged one.
 */
async function parseForm(type: string, body: Buffer): Promise<Parameters> {
  try {
    const headers = { 'content-type': type }
    const form = await new Response(new Uint8Array(body), { headers }).formData()
    const texts = [...form].filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
    return Object.fromEntries(texts)
  } catch {
    return {}
  }
}
