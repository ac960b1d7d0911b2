import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** The largest reserve: room for the journal entries of about 800,000 clicks. */
const RESERVE_BYTES_MAX = 64 * 1024 * 1024
/** The share of a small disk that the reserve takes. */
const RESERVE_SHARE = 1 / 50
const RESERVE_BYTES_MIN = 64 * 1024

/** The space on the disk of a folder. */
export type DiskSpace = {
  /** Bytes that this user can still write. */
  readonly freeBytes: number
  /** The same as a share of the space available to this user, from 0 to 1. */
  readonly freeRatio: number
  /** Whether no file can be created although bytes may be free: the disk has no inodes left. */
  readonly isOutOfFiles: boolean
  /** The size that the reserve should have. */
  readonly reserveBytes: number
  /** Bytes that must be free before a reserve is created, so that as much is left for other files. */
  readonly reserveNeedsBytes: number
}

export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  return fromStatFs(await statfs(folder))
}

export function fromStatFs({ bavail, bfree, blocks, bsize, files, ffree }: StatsFs): DiskSpace {
  const usableBlocks = blocks - bfree + bavail
  const share = Math.floor(blocks * bsize * RESERVE_SHARE)
  const reserveBytes = Math.max(RESERVE_BYTES_MIN, Math.min(RESERVE_BYTES_MAX, share))
  return {
    freeBytes: bavail * bsize,
    freeRatio: usableBlocks > 0 ? bavail / usableBlocks : 1,
    // File systems without an inode limit report 0 of 0.
    isOutOfFiles: files > 0 && ffree === 0,
    reserveBytes,
    reserveNeedsBytes: 2 * reserveBytes,
  }
}
