import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

/** A provider that accepts every code, however often, and answers with the ID token that a test sets. */
export type CredulousProvider = {
  readonly issuer: string
  /** What the token endpoint answers. */
  idToken: string
  /** Signs claims, by default with the provider's own key. */
  sign(claims: object, key?: Keys['privateKey']): Promise<string>
  stop(): void
}

export async function startCredulousProvider(): Promise<CredulousProvider> {
  const signing = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(signing.publicKey)), kid: 'key', alg: 'RS256' }
  const answers: Readonly<Record<string, () => object>> = {
    '/.well-known/openid-configuration': () => ({
      issuer: provider.issuer,
      authorization_endpoint: `${provider.issuer}/authorize`,
      token_endpoint: `${provider.issuer}/token`,
      jwks_uri: `${provider.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/jwks': () => ({ keys: [jwk] }),
    '/token': () => ({ access_token: 'a', token_type: 'Bearer', id_token: provider.idToken }),
  }
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(answers[request.url ?? '']?.() ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: CredulousProvider = {
    issuer: `http://localhost:${(server.address() as AddressInfo).port}`,
    idToken: '',
    sign: (claims, key = signing.privateKey) =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'key' }).sign(key),
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return provider
}
