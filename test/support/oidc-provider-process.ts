/**
 * An OpenID Connect provider in a process of its own. Every visitor of its sign-in page is signed in as the
 * account that `?account=` names. `POST /groups` sets the groups of accounts.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'

const [port = '', redirectUri = '', secret = ''] = process.argv.slice(2)
const issuer = `http://localhost:${port}`
let groups: Readonly<Record<string, readonly string[]>> = {}

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'terse',
      client_secret: secret,
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  pkce: { required: () => true },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: async () => ({
      sub: id,
      name: `Person ${id}`,
      email: `${id}@example.com`,
      email_verified: !id.startsWith('unverified'),
      groups: groups[id] ?? [],
    }),
  }),
})
const answer = provider.callback()

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
  if (pathname === '/groups') {
    void setGroups(request, response)
  } else if (pathname.startsWith('/interaction/')) {
    void signIn(request, response, searchParams.get('account'))
  } else {
    answer(request, response)
  }
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))

async function setGroups(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks = await request.toArray()
  groups = JSON.parse(Buffer.concat(chunks).toString())
  response.end()
}

async function signIn(
  request: IncomingMessage,
  response: ServerResponse,
  accountId: string | null,
): Promise<void> {
  if (accountId === null) {
    const refused = { error: 'access_denied', error_description: 'the person refused' }
    await provider.interactionFinished(request, response, refused)
    return
  }
  const grant = new provider.Grant({ accountId, clientId: 'terse' })
  grant.addOIDCScope('openid email profile')
  const grantId = await grant.save()
  const result = { login: { accountId }, consent: { grantId } }
  await provider.interactionFinished(request, response, result)
}
