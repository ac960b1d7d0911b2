import { certificateChange } from '../platform/changes/change.ts'
import type { ChangeLog } from '../platform/changes/change-log.ts'
import type { Store } from '../platform/database/store.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Certificate, SealedCertificate } from './certificate.ts'
import type { CertificateStore } from './certificate-store.ts'
import type { KeyVault } from './key-vault.ts'

export type CertificateStores = {
  readonly certificates: CertificateStore
  readonly changes: ChangeLog
}

/** The certificates with their keys, over the store that has these sealed. */
export type Certificates = {
  find(host: string): Promise<Certificate | undefined>
  /** @throws where its key was not sealed here, or for another host */
  open(sealed: SealedCertificate): Certificate
  /**
   * Puts a certificate in the place of the host's last one, as a part of a unit. Every node shows it
   * within a second of the commit.
   */
  save(stores: CertificateStores, certificate: Certificate): Promise<void>
  /** As a part of a unit, too; the host's name is then closed everywhere within a second. */
  remove(stores: CertificateStores, host: string): Promise<void>
}

export function certificates(deps: {
  store: Store<CertificateStores>
  vault: KeyVault
  clock: Clock
}): Certificates {
  const { store, vault, clock } = deps

  function open({ sealedKey, ...facts }: SealedCertificate): Certificate {
    return { ...facts, keyPem: vault.open(facts.host, sealedKey) }
  }

  return {
    async find(host) {
      const sealed = await store.read.certificates.find(host)
      return sealed && open(sealed)
    },
    open,
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
