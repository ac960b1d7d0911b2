import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { Constructed, GeneralizedTime, Integer } from 'asn1js'
import {
  type Asn1Value,
  ecdsaWithSha256,
  hostExtension,
  publicKeyInfo,
  sequence,
  signedDer,
} from './x509.ts'

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
