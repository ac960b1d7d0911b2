import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type RequestOptions, request } from 'node:https'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { certificatesOf } from '../../src/app/composition/domains.ts'
import type { Instance } from '../../src/app/composition/instance.ts'
import { NO_ACME } from './no-acme.ts'
import type { IssuedCertificate } from './test-authority.ts'
import { BROWSER, type VisitAnswer, type VisitOptions } from './visit.ts'

/** Stores a certificate where every node of the instance finds it. */
export async function keepCertificate(
  instance: Instance,
  host: string,
  issued: IssuedCertificate,
): Promise<void> {
  const { chainPem, keyPem, notBefore, notAfter } = issued
  await instance.store.write((stores) =>
    certificatesOf(instance).save(stores, {
      host,
      chainPem,
      keyPem,
      notBefore: notBefore.getTime() * 1000,
      notAfter: notAfter.getTime() * 1000,
      directory: NO_ACME,
      ariId: null,
      renewalWindow: null,
    }),
  )
}

/**
 * Opens a connection to a port of this machine and completes the handshake.
 *
 * @param name the host in the handshake; none when undefined
 */
export async function handshake(
  port: number,
  name: string | undefined,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ...(name && { servername: name }), ...options })
  try {
    await once(socket, 'secureConnect')
  } catch (error) {
    socket.destroy()
    throw error
  }
  return socket
}

/** Visits over HTTPS and HTTP/1.1, as `visit` does over plain HTTP. */
export function visitSecurely(
  port: number,
  host: string,
  path: string,
  { ca, agent = false, ...options }: VisitOptions & Pick<RequestOptions, 'ca' | 'agent'>,
): Promise<VisitAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path,
        servername: host,
        method: options.method ?? 'GET',
        agent,
        ca,
        headers: { host: options.host ?? host, 'user-agent': BROWSER, ...options.headers },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(options.body)
  })
}

/** Visits over HTTPS and HTTP/2. */
export async function visitOverHttp2(
  port: number,
  host: string,
  path: string,
  { ca, ...options }: VisitOptions & Pick<RequestOptions, 'ca'>,
): Promise<VisitAnswer> {
  const socket = await handshake(port, host, { ca, ALPNProtocols: ['h2'] })
  const session = connectHttp2(`https://${host}`, { createConnection: () => socket })
  try {
    const stream = session.request({
      ':path': path,
      ':method': options.method ?? 'GET',
      'user-agent': BROWSER,
      ...options.headers,
    })
    stream.end(options.body)
    const [headers] = await once(stream, 'response')
    const chunks: Buffer[] = await stream.toArray()
    const body = Buffer.concat(chunks).toString('utf8')
    return { status: headers[':status'] ?? 0, headers, body }
  } finally {
    session.close()
  }
}
