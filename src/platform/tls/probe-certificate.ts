import { connect, type TLSSocket } from 'node:tls'

/** The certificate that an address serves to browsers. */
export type ServedCertificate =
  | {
      readonly kind: 'served'
      readonly issuer: string
      readonly validUntil: Date
      /** OpenSSL's reason not to trust it; undefined for a trusted certificate. */
      readonly error: string | undefined
    }
  /** The address did not answer, or not with TLS. */
  | { readonly kind: 'none'; readonly reason: string }

/**
 * Connects to an address and returns the certificate for a host, verified with the machine's CAs.
 */
export function probeCertificate(options: {
  host: string
  address: string
  port: number
  timeoutMs: number
}): Promise<ServedCertificate> {
  const { host, address, port, timeoutMs } = options
  return new Promise((resolve) => {
    const socket = connect({
      host: address,
      port,
      servername: host,
      rejectUnauthorized: false,
      timeout: timeoutMs,
    })
    const end = (served: ServedCertificate) => {
      socket.destroy()
      resolve(served)
    }
    socket.on('secureConnect', () => end(describe(socket)))
    socket.on('timeout', () => end({ kind: 'none', reason: 'no answer in time' }))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      end({ kind: 'none', reason: error.code ?? error.message }),
    )
  })
}

function describe(socket: TLSSocket): ServedCertificate {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return { kind: 'none', reason: 'no certificate' }
  const { authorizationError } = socket
  return {
    kind: 'served',
    issuer: certificate.issuer.replaceAll('\n', ', '),
    validUntil: certificate.validToDate,
    error: socket.authorized ? undefined : String(authorizationError),
  }
}
