import { type Certificates, certificates } from '../domain/certificates/certificates.ts'
import { keyVault } from '../domain/certificates/key-vault.ts'
import { deriveKey } from '../domain/instance/instance-keys.ts'
import { systemRandom } from '../lib/random.ts'
import type { Instance } from './instance.ts'

export function certificatesOf({ store, clock, instanceKey }: Instance): Certificates {
  const vault = keyVault(deriveKey(instanceKey, 'certificate-key'), systemRandom)
  return certificates({ store, vault, clock })
}
