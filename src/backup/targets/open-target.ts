import type { BackupTarget } from './backup-target.ts'
import { FolderTarget } from './folder-target.ts'
import type { S3Access } from './s3-target.ts'

const S3_ADDRESS = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[A-Za-z0-9._/-]*)?$/

/**
 * Opens a folder, or a bucket such as `s3://bucket/prefix`.
 *
 * @param options.keepFreeBytes as for `FolderTarget`
 * @param options.stop ends requests to a bucket
 * @throws when the address is malformed, or nothing is set to reach an S3 service
 */
export async function openTarget(
  address: string,
  s3: S3Access | undefined,
  {
    keepFreeBytes = 0,
    stop,
  }: { readonly keepFreeBytes?: number; readonly stop?: AbortSignal } = {},
): Promise<BackupTarget> {
  if (!address.includes('://')) return new FolderTarget(address, keepFreeBytes)
  if (!S3_ADDRESS.test(address)) {
    throw new Error(`"${address}" is neither a folder nor a bucket such as s3://bucket/prefix.`)
  }
  if (s3 === undefined) {
    throw new Error(
      'To use a bucket, set TERSE_S3_ENDPOINT, TERSE_S3_ACCESS_KEY_ID and TERSE_S3_SECRET_ACCESS_KEY.',
    )
  }
  const { S3Target } = await import('./s3-target.ts')
  return new S3Target(address, s3, stop)
}
