// @peculiar/x509 would do most of this, with a global polyfill (reflect-metadata) and 16 MB more memory in each process
// than asn1js.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import {
  Boolean as Asn1Boolean,
  Set as Asn1Set,
  BitString,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
} from 'asn1js'

/** Any ASN.1 value. */
type Asn1Value = NonNullable<ReturnType<typeof fromBER>['result']>

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'
/** The choice `dNSName` of a GeneralName (RFC 5280, section 4.2.1.6). */
const DNS_NAME_TAG = 2

/** @throws for bytes that are not DER */
function decodeDer(bytes: Uint8Array): Asn1Value {
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

function oid(value: string): ObjectIdentifier {
  return new ObjectIdentifier({ value })
}

function ecdsaWithSha256(): Sequence {
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
function hostExtension(host: string, isCritical: boolean): Sequence {
  const name = new Primitive({
    idBlock: { tagClass: 3, tagNumber: DNS_NAME_TAG },
    valueHex: Buffer.from(host, 'ascii'),
  })
  return extension({ id: SUBJECT_ALTERNATIVE_NAME, isCritical, value: sequence(name) })
}

function publicKeyInfo(publicKey: KeyObject): Asn1Value {
  return decodeDer(publicKey.export({ type: 'spki', format: 'der' }))
}

/** Encodes content, algorithm and signature, the form of both requests and certificates. */
function signedDer(content: Asn1Value, privateKey: KeyObject): Buffer {
  const signature = sign('sha256', encodeDer(content), privateKey)
  return encodeDer(sequence(content, ecdsaWithSha256(), new BitString({ valueHex: signature })))
}

const DAY_MS = 24 * 60 * 60 * 1_000
const X509_VERSION_3 = 2
const SERIAL_BYTES = 16

/** Creates a self-signed certificate with a new key, both in PEM, valid for seven days. */
export function selfSigned(
  host: string,
  nowMs: number,
  extensions: readonly Asn1Value[] = [],
): { readonly chainPem: string; readonly keyPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const serial = randomBytes(SERIAL_BYTES)
  // DER requires a positive integer without leading zeros.
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f)
  const content = sequence(
    context(0, new Integer({ value: X509_VERSION_3 })),
    new Integer({ valueHex: serial }),
    ecdsaWithSha256(),
    sequence(),
    sequence(time(nowMs - DAY_MS), time(nowMs + 7 * DAY_MS)),
    sequence(),
    publicKeyInfo(publicKey),
    context(3, sequence(hostExtension(host, true), ...extensions)),
  )
  const der = signedDer(content, privateKey)
  const lines = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return {
    chainPem: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function context(tagNumber: number, value: Asn1Value): Constructed {
  return new Constructed({ idBlock: { tagClass: 3, tagNumber }, value: [value] })
}

function time(ms: number): GeneralizedTime {
  // RFC 5280 allows no fractions of a second.
  return new GeneralizedTime({ valueDate: new Date(Math.floor(ms / 1_000) * 1_000) })
}

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
