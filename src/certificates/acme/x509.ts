import { type KeyObject, sign } from 'node:crypto'
import {
  Boolean as Asn1Boolean,
  BitString,
  fromBER,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
} from 'asn1js'

/** Any ASN.1 value. */
export type Asn1Value = NonNullable<ReturnType<typeof fromBER>['result']>

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'
/** The choice `dNSName` of a GeneralName (RFC 5280, section 4.2.1.6). */
const DNS_NAME_TAG = 2

/** @throws for bytes that are not DER */
export function decodeDer(bytes: Uint8Array): Asn1Value {
  const { offset, result } = fromBER(bytes)
  if (offset === -1) throw new Error(`invalid DER: ${result.error}`)
  return result
}

function encodeDer(value: Asn1Value): Buffer {
  return Buffer.from(value.toBER())
}

export function sequence(...value: Asn1Value[]): Sequence {
  return new Sequence({ value })
}

export function oid(value: string): ObjectIdentifier {
  return new ObjectIdentifier({ value })
}

export function ecdsaWithSha256(): Sequence {
  return sequence(oid(ECDSA_WITH_SHA256))
}

/** @param options.value in DER */
export function extension(options: { id: string; isCritical: boolean; value: Asn1Value }) {
  return sequence(
    oid(options.id),
    ...(options.isCritical ? [new Asn1Boolean({ value: true })] : []),
    new OctetString({ valueHex: encodeDer(options.value) }),
  )
}

/** @param isCritical true for a certificate with an empty subject (RFC 5280, section 4.2.1.6) */
export function hostExtension(host: string, isCritical: boolean): Sequence {
  const name = new Primitive({
    idBlock: { tagClass: 3, tagNumber: DNS_NAME_TAG },
    valueHex: Buffer.from(host, 'ascii'),
  })
  return extension({ id: SUBJECT_ALTERNATIVE_NAME, isCritical, value: sequence(name) })
}

export function publicKeyInfo(publicKey: KeyObject): Asn1Value {
  return decodeDer(publicKey.export({ type: 'spki', format: 'der' }))
}

/** Encodes content, algorithm and signature, the form of both requests and certificates. */
export function signedDer(content: Asn1Value, privateKey: KeyObject): Buffer {
  const signature = sign('sha256', encodeDer(content), privateKey)
  return encodeDer(sequence(content, ecdsaWithSha256(), new BitString({ valueHex: signature })))
}
