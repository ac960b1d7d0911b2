import type { Store } from '../database/store.ts'
import type { InstanceStore } from './store/instance-store.ts'

type InstanceStores = { readonly instance: InstanceStore }

import { deriveKey } from './instance-keys.ts'

const NAME = 'key_check'

/** Whether a process has started on this database before, and set its key. */
export async function hasInstanceKey(store: Store<InstanceStores>): Promise<boolean> {
  return (await store.read.instance.find(NAME)) !== undefined
}

/**
 * Makes sure that this process has the key with which the database's secrets are sealed; the first
 * process on a new database sets it.
 *
 * @throws where it is another key: going on would seal new secrets apart from the old ones
 */
export async function checkInstanceKey(
  store: Store<InstanceStores>,
  instanceKey: Buffer,
): Promise<Buffer> {
  const mark = deriveKey(instanceKey, 'key-check').toString('hex')
  const kept =
    (await store.read.instance.find(NAME)) ??
    (await store.write((stores) => stores.instance.keep(NAME, mark)))
  if (kept !== mark) {
    throw new Error(
      'The secret key is not the one that this database was made with. ' +
        'Set TERSE_SECRET_KEY, or restore secret.key in the data folder, to the first one.',
    )
  }
  return instanceKey
}
