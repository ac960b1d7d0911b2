import { type Answer, type Api, expectStatus } from '../support/api.ts'

type Fields = Readonly<Record<string, unknown>>

/** Where links lead that are made without a destination of their own. */
export const DESTINATION = 'https://example.com/there'

/** Makes a link; on a host that the workspace lacks, this claims it, which proves `*.localhost`. */
export async function createLink(api: Api, fields: Fields): Promise<Answer['body']> {
  const answer = await api.post('/links', { domain: 'localhost', url: DESTINATION, ...fields })
  return expectStatus(answer, 201).body
}

export async function createDomain(api: Api, fields: Fields): Promise<Answer['body']> {
  return expectStatus(await api.post('/domains', fields), 201).body
}
