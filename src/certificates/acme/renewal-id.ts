import { X509Certificate } from 'node:crypto'
import { Constructed, Integer, ObjectIdentifier, OctetString, Primitive, Sequence } from 'asn1js'
import { type Asn1Value, decodeDer } from './x509.ts'

const AUTHORITY_KEY_IDENTIFIER = '2.5.29.35'

/**
 * Returns the identifier that renewal information is requested by: the issuer's key identifier and the
 * serial number (RFC 9773, section 4.1). Undefined for a certificate without the former.
 *
 * @param chainPem only the first certificate is read
 */
export function renewalIdOf(chainPem: string): string | undefined {
  const content = partsOf(decodeDer(new X509Certificate(chainPem).raw))[0]
  const serial = partsOf(content).find((part) => part instanceof Integer)
  const keyId = authorityKeyId(partsOf(partsOf(content).find((part) => isContext(part, 3)))[0])
  if (serial === undefined || keyId === undefined) return undefined
  return `${base64url(keyId)}.${base64url(serial.valueBlock.valueHexView)}`
}

function authorityKeyId(extensions: Asn1Value | undefined): Uint8Array | undefined {
  for (const extension of partsOf(extensions)) {
    const [id, ...rest] = partsOf(extension)
    const value = rest.at(-1)
    const isKeyIdentifier =
      id instanceof ObjectIdentifier && id.valueBlock.toString() === AUTHORITY_KEY_IDENTIFIER
    if (!isKeyIdentifier || !(value instanceof OctetString)) continue
    const identifier = partsOf(decodeDer(value.valueBlock.valueHexView)).find((part) =>
      isContext(part, 0),
    )
    return identifier instanceof Primitive ? identifier.valueBlock.valueHexView : undefined
  }
  return undefined
}

function partsOf(value: Asn1Value | undefined): readonly Asn1Value[] {
  return value instanceof Sequence || value instanceof Constructed ? value.valueBlock.value : []
}

function isContext(value: Asn1Value, tagNumber: number): boolean {
  return value.idBlock.tagClass === 3 && value.idBlock.tagNumber === tagNumber
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
