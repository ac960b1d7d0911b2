import { type Answer, type Api, expectStatus } from '../support/api.ts'

type Fields = Readonly<Record<string, unknown>>

/** The destination of links that are created without one. */
export const DESTINATION = 'https://example.com/there'

/** Creates a link; on an unclaimed host, this claims it, which proves `*.localhost`. */
export async function createLink(api: Api, fields: Fields): Promise<Answer['body']> {
  const answer = await api.post('/links', { domain: 'localhost', url: DESTINATION, ...fields })
  return expectStatus(answer, 201).body
}

export async function createDomain(api: Api, fields: Fields): Promise<Answer['body']> {
  return expectStatus(await api.post('/domains', fields), 201).body
}
