import { readdirSync } from 'node:fs'
import path from 'node:path'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'

/** A segment larger than this is closed, and removed once its clicks are ingested. */
export const SEGMENT_BYTES_MAX = 16 * 1024 * 1024

const SEGMENT = /^(\d{10})\.journal$/

/** Returns the numbers of a journal's segment files, ascending; empty if the journal does not exist. */
export function listSegments(folder: string): number[] {
  const numbers: number[] = []
  for (const name of namesIn(folder)) {
    const match = SEGMENT.exec(name)
    if (match !== null) numbers.push(Number(match[1]))
  }
  return numbers.sort((a, b) => a - b)
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

export function segmentFile(folder: string, segment: number): string {
  return path.join(folder, `${String(segment).padStart(10, '0')}.journal`)
}
