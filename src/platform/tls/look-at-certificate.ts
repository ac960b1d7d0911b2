import { connect, type TLSSocket } from 'node:tls'

/** What a visitor's browser is shown. */
export type ShownCertificate =
  | {
      readonly kind: 'shown'
      readonly issuer: string
      readonly validUntil: Date
      /** Why a browser would not trust it, as OpenSSL says it; undefined where it would. */
      readonly fault: string | undefined
    }
  /** Nobody answered, or not with TLS. */
  | { readonly kind: 'none'; readonly reason: string }

/** Asks for the certificate of a host as a visitor would, and trusts whom the machine trusts. */
export function lookAtCertificate(options: {
  host: string
  address: string
  port: number
  timeoutMs: number
}): Promise<ShownCertificate> {
  const { host, address, port, timeoutMs } = options
  return new Promise((resolve) => {
    const socket = connect({
      host: address,
      port,
      servername: host,
      rejectUnauthorized: false,
      timeout: timeoutMs,
    })
    const end = (shown: ShownCertificate) => {
      socket.destroy()
      resolve(shown)
    }
    socket.on('secureConnect', () => end(describe(socket)))
    socket.on('timeout', () => end({ kind: 'none', reason: 'no answer in time' }))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      end({ kind: 'none', reason: error.code ?? error.message }),
    )
  })
}

function describe(socket: TLSSocket): ShownCertificate {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return { kind: 'none', reason: 'no certificate' }
  const { authorizationError } = socket
  return {
    kind: 'shown',
    issuer: certificate.issuer.replaceAll('\n', ', '),
    validUntil: certificate.validToDate,
    fault: socket.authorized ? undefined : String(authorizationError),
  }
}
