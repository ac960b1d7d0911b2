import type { Random } from '../platform/crypto/random.ts'
import { sealing } from '../platform/crypto/seal.ts'

/** Keeps the private keys of certificates: sealed at rest, each for one host. */
export type KeyVault = {
  seal(host: string, keyPem: string): string
  /** @throws where the key was not sealed here, or for another host */
  open(host: string, sealedKey: string): string
}

/** @param key 32 bytes, for nothing but this vault */
export function keyVault(key: Buffer, random: Random): KeyVault {
  const box = sealing(key, random)
  return {
    seal: (host, keyPem) => box.seal(Buffer.from(keyPem), host).toString('base64'),
    open(host, sealedKey) {
      const keyPem = box.unseal(Buffer.from(sealedKey, 'base64'), host)
      if (keyPem === undefined) throw new Error(`the private key of ${host} cannot be unsealed`)
      return keyPem.toString()
    },
  }
}
