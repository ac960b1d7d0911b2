import { type Certificates, certificates } from '../../certificates/certificates.ts'
import { keyVault } from '../../certificates/key-vault.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { Instance } from './instance.ts'

export function certificatesOf({ store, clock, instanceKey }: Instance): Certificates {
  const vault = keyVault(deriveKey(instanceKey, 'certificate-key'), systemRandom)
  return certificates({ store, vault, clock })
}
