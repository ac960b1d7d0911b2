import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'

/** A certificate authority that only a test trusts. */
export type TestAuthority = {
  /** For a client that trusts it. */
  readonly certificatePem: string
  /** A certificate for one host, valid now by default. */
  issue(host: string, life?: Partial<Life>): IssuedCertificate
  /** The same for an existing private key; the chain in PEM. */
  certify(host: string, keyPem: string, life: Life): string
}

export type IssuedCertificate = Life & { readonly chainPem: string; readonly keyPem: string }

type Life = { readonly notBefore: Date; readonly notAfter: Date }

const HOUR_MS = 3_600_000

export function createTestAuthority(name = 'Terse test authority'): TestAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certify = (subject: string, key: KeyObject, life: Life, extension: Buffer) =>
    pemOf(signed(tbsCertificate({ issuer: name, subject, key, life, extension }), privateKey))
  const ownLife = lifeOf({})
  const certificatePem = certify(name, publicKey, ownLife, AUTHORITY)
  return {
    certificatePem,
    certify: (host, keyPem, life) =>
      certify(host, createPublicKey(keyPem), life, alternativeName(host)) + certificatePem,
    issue(host, partial = {}) {
      const life = lifeOf(partial)
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      return {
        ...life,
        chainPem: certify(host, own.publicKey, life, alternativeName(host)) + certificatePem,
        keyPem: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}

function lifeOf(partial: Partial<Life>): Life {
  const now = Date.now()
  const life = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + 24 * HOUR_MS) }
  return { ...life, ...partial }
}

// What follows writes X.509 (RFC 5280, section 4.1) in DER, which Node reads but does not write.

const ECDSA_WITH_SHA256 = der(0x30, objectId('2a8648ce3d040302'))
const COMMON_NAME = objectId('550403')
const TRUE = der(0x01, Buffer.from([0xff]))
const AUTHORITY = der(0x30, objectId('551d13'), TRUE, der(0x04, der(0x30, TRUE)))

function alternativeName(host: string): Buffer {
  return der(0x30, objectId('551d11'), der(0x04, der(0x30, der(0x82, Buffer.from(host)))))
}

function tbsCertificate(options: {
  issuer: string
  subject: string
  key: KeyObject
  life: Life
  extension: Buffer
}): Buffer {
  const { life, key } = options
  // The highest bit is the sign, and the first byte must not be zero.
  const serial = Buffer.concat([Buffer.from([0x40]), randomBytes(15)])
  return der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    nameOf(options.issuer),
    der(0x30, timeOf(life.notBefore), timeOf(life.notAfter)),
    nameOf(options.subject),
    key.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, options.extension)),
  )
}

function signed(tbs: Buffer, key: KeyObject): Buffer {
  const bits = Buffer.concat([Buffer.from([0]), sign('sha256', tbs, key)])
  return der(0x30, tbs, ECDSA_WITH_SHA256, der(0x03, bits))
}

function nameOf(commonName: string): Buffer {
  return der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, Buffer.from(commonName)))))
}

function timeOf(date: Date): Buffer {
  return der(0x17, Buffer.from(date.toISOString().replace(/^20|[-:T]|\.\d+/g, '')))
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const { length } = body
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

function pemOf(certificate: Buffer): string {
  return `${new X509Certificate(certificate)}`
}
