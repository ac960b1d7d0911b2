import type { Clock } from '../../lib/clock.ts'
import { certificateChange } from '../changes/change.ts'
import type { Nouns, Store } from '../store.ts'
import type { Certificate } from './certificate.ts'
import type { KeyVault } from './key-vault.ts'

/** The certificates with their keys, over the store that has these sealed. */
export type Certificates = {
  find(host: string): Promise<Certificate | undefined>
  /**
   * Puts a certificate in the place of the host's last one, as a part of a unit. Every node shows it
   * within a second of the commit.
   */
  save(stores: Nouns, certificate: Certificate): Promise<void>
  /** As a part of a unit, too; the host's name is then closed everywhere within a second. */
  remove(stores: Nouns, host: string): Promise<void>
}

export function certificates(deps: { store: Store; vault: KeyVault; clock: Clock }): Certificates {
  const { store, vault, clock } = deps
  return {
    async find(host) {
      const sealed = await store.read.certificates.find(host)
      if (sealed === undefined) return undefined
      const { sealedKey, ...facts } = sealed
      return { ...facts, keyPem: vault.open(host, sealedKey) }
    },
    async save(stores, { keyPem, ...facts }) {
      const now = clock.nowMicros()
      const sealedKey = vault.seal(facts.host, keyPem)
      await stores.certificates.save({ ...facts, sealedKey }, now)
      await stores.changes.append(certificateChange(facts.host), now)
    },
    async remove(stores, host) {
      if (!(await stores.certificates.remove(host))) return
      await stores.changes.append(certificateChange(host), clock.nowMicros())
    },
  }
}
