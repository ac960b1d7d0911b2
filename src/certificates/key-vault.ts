import type { Random } from '../platform/crypto/random.ts'
import { type Sealing, sealing } from '../platform/crypto/sealing.ts'

/** Seals private keys for storage, each bound to the name that it belongs to. */
export class KeyVault {
  readonly #sealing: Sealing

  /** @param key 32 bytes that nothing else uses */
  constructor(key: Buffer, random: Random) {
    this.#sealing = sealing(key, random)
  }

  seal(name: string, keyPem: string): string {
    return this.#sealing.seal(Buffer.from(keyPem), name).toString('base64')
  }

  /** @throws for a key that was sealed by another vault or for another name */
  open(name: string, sealedKey: string): string {
    const keyPem = this.#sealing.unseal(Buffer.from(sealedKey, 'base64'), name)
    if (keyPem === undefined) throw new Error(`the private key of ${name} cannot be unsealed`)
    return keyPem.toString()
  }
}
