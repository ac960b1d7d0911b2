import { createPrivateKey, createPublicKey } from 'node:crypto'
import { Set as Asn1Set, Constructed, Integer } from 'asn1js'
import { hostExtension, oid, publicKeyInfo, sequence, signedDer } from './x509.ts'

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

/**
 * Builds a certificate signing request (PKCS #10, RFC 2986) for one host and an EC key, in DER. The host
 * is only in the subject alternative names: profiles for short-lived certificates allow no common name.
 */
export function certificateRequest(keyPem: string, host: string): Buffer {
  const key = createPrivateKey(keyPem)
  const extensions = sequence(
    oid(EXTENSION_REQUEST),
    new Asn1Set({ value: [sequence(hostExtension(host, true))] }),
  )
  const information = sequence(
    new Integer({ value: 0 }),
    sequence(),
    publicKeyInfo(createPublicKey(key)),
    new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [extensions] }),
  )
  return signedDer(information, key)
}
