import {
  type BackupCatalog,
  type BlockStore,
  decideExpired,
  type Retention,
} from '../../backup/index.ts'

/**
 * Removes backups that are no longer needed, and the blocks that no other backup needs, also those that a killed
 * backup left.
 *
 * @param options.retention undefined to keep all backups
 * @param options.kept backups that are needed in any case
 * @returns the names of the removed backups
 * @throws when a backup was made by a newer release; then nothing is removed, because its blocks are not known
 */
export async function pruneBackups(options: {
  readonly catalog: BackupCatalog
  readonly blocks: BlockStore
  readonly retention: Retention | undefined
  readonly kept: ReadonlySet<string>
}): Promise<readonly string[]> {
  const { catalog, blocks, retention, kept } = options
  const backups = await catalog.list()
  const expired = retention === undefined ? [] : decideExpired(backups, retention, kept)
  const expiredNames = new Set(expired.map(({ name }) => name))
  // The manifests first: a backup whose blocks are missing must not look complete.
  for (const name of expiredNames) await catalog.remove(name)
  const left = backups.filter(({ name }) => !expiredNames.has(name))
  await catalog.sweep()
  await blocks.sweep(new Set(left.flatMap(({ blocks }) => blocks)))
  return [...expiredNames]
}
