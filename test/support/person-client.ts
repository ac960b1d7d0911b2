import { type Answer, apiClient, expectStatus, untilServed } from './api.ts'
import type { Service } from './service.ts'

export const PASSWORD = 'correct horse battery staple'

/** A browser with one person: keeps cookies, and sends what pages of the service send. */
export type PersonClient = {
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  put(path: string, body: unknown): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string, headers?: Record<string, string>): Promise<Answer>
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /** Requests a page of the service, without following redirects. */
  visit(target: string): Promise<Response>
  /** The `Cookie` header; empty without a session. */
  cookie: string
  /** Sent as `Terse-Workspace` when it is set. */
  workspaceId: string | undefined
}

export function personClient({ baseUrl }: Pick<Service, 'baseUrl'>): PersonClient {
  const api = apiClient(baseUrl, undefined)

  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await api.send(method, path, {
      headers: {
        'sec-fetch-site': 'same-origin',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        ...(client.cookie !== '' && { cookie: client.cookie }),
        ...(client.workspaceId !== undefined && { 'terse-workspace': client.workspaceId }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    client.cookie = withCookies(client.cookie, answer.headers.getSetCookie())
    return answer
  }

  const client: PersonClient = {
    cookie: '',
    workspaceId: undefined,
    send,
    async visit(target) {
      const headers = { 'sec-fetch-site': 'cross-site', cookie: client.cookie }
      const response = await fetch(`${baseUrl}${target}`, { redirect: 'manual', headers })
      client.cookie = withCookies(client.cookie, response.headers.getSetCookie())
      return response
    },
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    put: (path, body) => send('PUT', path, body),
    patch: (path, body) => send('PATCH', path, body),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  }
  return client
}

/** The `Cookie` header after an answer. */
export function withCookies(header: string, setCookies: readonly string[]): string {
  const jar = new Map(
    header
      .split('; ')
      .filter((pair) => pair !== '')
      .map((pair) => [pair.split('=')[0], pair]),
  )
  for (const cookie of setCookies) {
    const [pair = ''] = cookie.split(';')
    const [name] = pair.split('=')
    if (cookie.includes('Max-Age=0')) jar.delete(name)
    else jar.set(name, pair)
  }
  return [...jar.values()].join('; ')
}

/** Sets up the first person, who is then signed in. */
export async function setUp(service: Service, email = 'ada@example.com'): Promise<PersonClient> {
  const client = personClient(service)
  const code = await service.instance.setupLinks.create('test')
  const body = { code, email, name: 'Ada Lovelace', password: PASSWORD }
  const answer = await client.post('/setup', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return client
}

export async function signIn(
  service: Pick<Service, 'baseUrl'>,
  { email = 'ada@example.com', password = PASSWORD } = {},
): Promise<PersonClient> {
  const client = personClient(service)
  const answer = await untilServed(() => client.post('/session', { email, password }))
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return client
}

/** Makes an account by an invitation to the workspace of a person. */
export async function invite(
  service: Service,
  inviter: PersonClient,
  name: string,
  role = 'member',
): Promise<PersonClient> {
  const invitation = { email: `${name}@example.com`, role }
  const { body } = expectStatus(await inviter.post('/invitations', invitation), 201)
  const code = new URL(body.url).hash.replace('#code=', '')
  const client = personClient(service)
  const account = { code, name, password: PASSWORD }
  expectStatus(await client.post('/invitations/accept', account), 201)
  client.workspaceId = inviter.workspaceId
  return client
}
