import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** The most that the reserve takes: the journal entries of some 800,000 clicks. */
const RESERVE_BYTES_MAX = 64 * 1024 * 1024
/** Of a small disk, the share that the reserve takes. */
const RESERVE_SHARE = 1 / 50
const RESERVE_BYTES_MIN = 64 * 1024

/** The disk under a folder. */
export type DiskRoom = {
  /** What this user may still write. */
  readonly freeBytes: number
  /** The same as a part of what this user may use at all, 0 to 1. */
  readonly freeRatio: number
  /** Whether no further file can be made, however many bytes are free. */
  readonly isOutOfFiles: boolean
  /** How large the reserve should be. */
  readonly reserveBytes: number
  /** What must be free before a reserve is made, so that as much is left for everything else. */
  readonly roomyBytes: number
}

export async function readDiskRoom(folder: string): Promise<DiskRoom> {
  return diskRoomOf(await statfs(folder))
}

export function diskRoomOf({ bavail, bfree, blocks, bsize, files, ffree }: StatsFs): DiskRoom {
  const usableBlocks = blocks - bfree + bavail
  const share = Math.floor(blocks * bsize * RESERVE_SHARE)
  const reserveBytes = Math.max(RESERVE_BYTES_MIN, Math.min(RESERVE_BYTES_MAX, share))
  return {
    freeBytes: bavail * bsize,
    freeRatio: usableBlocks > 0 ? bavail / usableBlocks : 1,
    // File systems that have no such limit report 0 of 0.
    isOutOfFiles: files > 0 && ffree === 0,
    reserveBytes,
    roomyBytes: 2 * reserveBytes,
  }
}
