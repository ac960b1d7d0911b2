import { readdirSync } from 'node:fs'
import path from 'node:path'

const SEGMENT = /^(\d{10})\.journal$/

/** The numbers of a journal's segment files, rising. */
export function listSegments(folder: string): number[] {
  const numbers: number[] = []
  for (const name of readdirSync(folder)) {
    const match = SEGMENT.exec(name)
    if (match !== null) numbers.push(Number(match[1]))
  }
  return numbers.sort((a, b) => a - b)
}

export function segmentFile(folder: string, segment: number): string {
  return path.join(folder, `${String(segment).padStart(10, '0')}.journal`)
}
