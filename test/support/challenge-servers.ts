import { once } from 'node:events'
import { createServer } from 'node:http'
import { createSecureContext, createServer as createTlsServer } from 'node:tls'
import type { ChallengeAnswers } from '../../src/certificates/challenges.ts'

const PATH = /^\/\.well-known\/acme-challenge\/([\w-]+)$/

/** Starts servers that answer challenges as a node does, and do nothing else. */
export async function startChallengeServers(
  answers: ChallengeAnswers,
  ports: { readonly httpPort: number; readonly tlsPort: number },
): Promise<{ readonly stop: () => Promise<void> }> {
  const http = createServer((request, response) => {
    const token = PATH.exec(request.url ?? '')?.[1] ?? ''
    const host = request.headers.host?.replace(/:\d+$/, '') ?? ''
    answers.findHttp(host, token).then(
      (answer) => response.writeHead(answer === undefined ? 404 : 200).end(answer),
      () => response.writeHead(503).end(),
    )
  })
  const tls = createTlsServer({
    ALPNProtocols: ['acme-tls/1'],
    SNICallback(host, done) {
      answers.findAlpn(host).then((found) => {
        if (found === undefined) return done(new Error('nothing is asked'))
        done(null, createSecureContext({ cert: found.chainPem, key: found.keyPem }))
      }, done)
    },
  })
  http.listen(ports.httpPort, '127.0.0.1')
  tls.listen(ports.tlsPort, '127.0.0.1')
  await Promise.all([once(http, 'listening'), once(tls, 'listening')])
  return {
    async stop() {
      http.closeAllConnections()
      http.close()
      tls.close()
      await Promise.all([once(http, 'close'), once(tls, 'close')])
    },
  }
}
