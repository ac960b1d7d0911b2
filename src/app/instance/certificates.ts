import { KeyVault } from '../../certificates/account-manager.ts'
import { Certificates } from '../../certificates/certificates.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { Instance } from './instance.ts'

export function certificatesOf({ store, clock, instanceKey }: Instance): Certificates {
  const vault = new KeyVault(deriveKey(instanceKey, 'certificate-key'), systemRandom)
  return new Certificates({ store, vault, clock })
}
