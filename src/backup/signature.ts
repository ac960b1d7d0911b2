import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** Who must have signed a backup. */
export type Signer = {
  readonly publicKey: KeyObject
  /** The file in which the key is, for messages. */
  readonly file: string
}

/** Thrown when a backup is not signed by the key that is demanded. */
export class NotSigned extends Error {
  override readonly name = 'NotSigned'
}

/** Reads a private key of Ed25519 as `openssl genpkey` writes it (PEM). Undefined when the text is none. */
export function parseSigningKey(text: string): KeyObject | undefined {
  return ofEd25519(() => createPrivateKey(text))
}

/** Reads a public key of Ed25519 as `openssl pkey -pubout` writes it (PEM). Undefined when the text is none. */
export function parsePublicKey(text: string): KeyObject | undefined {
  return ofEd25519(() => createPublicKey(text))
}

export function publicKeyOf(signingKey: KeyObject): KeyObject {
  return createPublicKey(signingKey)
}

/** Returns the 64 bytes that `openssl pkeyutl -verify -rawin` takes as well. */
export function signManifest(manifest: Uint8Array, signingKey: KeyObject): Buffer {
  return sign(null, manifest, signingKey)
}

/** Whether the holder of the private key has signed exactly these bytes. */
export function isSignedBy(
  { publicKey }: Signer,
  manifest: Uint8Array,
  signature: Uint8Array | undefined,
): boolean {
  return signature !== undefined && verify(null, manifest, publicKey, signature)
}

function ofEd25519(read: () => KeyObject): KeyObject | undefined {
  try {
    const key = read()
    return key.asymmetricKeyType === 'ed25519' ? key : undefined
  } catch {
    return undefined
  }
}
