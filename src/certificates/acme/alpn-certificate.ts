import { createHash } from 'node:crypto'
import { OctetString } from 'asn1js'
import { selfSigned } from './self-signed.ts'
import { extension } from './x509.ts'

const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31'

/** Creates the certificate that answers a tls-alpn-01 challenge (RFC 8737, section 3). */
export function alpnCertificate(host: string, keyAuthorization: string, nowMs: number) {
  const digest = createHash('sha256').update(keyAuthorization).digest()
  return selfSigned(host, nowMs, [
    extension({
      id: ACME_IDENTIFIER,
      isCritical: true,
      value: new OctetString({ valueHex: digest }),
    }),
  ])
}
