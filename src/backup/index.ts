/** What other modules use of backups: how they are stored, found and thinned out. */
export {
  type BlockOfFile,
  type BlockSource,
  BlockStore,
  findDamagedBlocks,
  listMarkedBlocks,
  listUnusableBlocks,
  readBlocks,
} from './block-store.ts'
export { BackupCatalog, contentOf } from './catalog.ts'
export {
  type BackupCipher,
  type Identities,
  openCipher,
  parseIdentities,
} from './encryption.ts'
export {
  type BackupContent,
  type BackupFile,
  type BackupHead,
  type BackupTotals,
  DamagedBackup,
  formatBackupName,
  MANIFEST_FORMAT,
} from './manifest.ts'
export { decideExpired, type Retention } from './retention.ts'
export {
  NotSigned,
  parsePublicKey,
  parseSigningKey,
  publicKeyOf,
  type Signer,
} from './signature.ts'
export type { BackupTarget } from './targets/backup-target.ts'
export { NoRoom } from './targets/no-room.ts'
export { openTarget } from './targets/open-target.ts'
export type { S3Access } from './targets/s3-target.ts'
