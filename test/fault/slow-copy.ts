import { closeSync, mkdirSync, openSync, readdirSync, readSync, writeSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../support/random.ts'

/*
 * Copies a folder as `cp -r` does, in random order and slowly, as if the files were large: a write
 * during the copy is in one file and not in another, or in one part of a file and not in the rest.
 */
const [from = '', to = ''] = process.argv.slice(2)
const PIECE_BYTES = 32 * 1024
const PAUSE_MS_MAX = 12

async function copyFolder(source: string, target: string): Promise<void> {
  mkdirSync(target)
  const entries = readdirSync(source, { withFileTypes: true })
  for (const entry of entries.sort(() => random() - 0.5)) {
    const names = [path.join(source, entry.name), path.join(target, entry.name)] as const
    if (entry.isDirectory()) await copyFolder(...names)
    else await copyFile(...names)
  }
}

async function copyFile(source: string, target: string): Promise<void> {
  let input: number
  try {
    input = openSync(source, 'r')
  } catch {
    // It was removed in the meantime; cp reports it and continues.
    return
  }
  const output = openSync(target, 'w', 0o600)
  const piece = Buffer.alloc(PIECE_BYTES)
  for (;;) {
    const length = readSync(input, piece)
    if (length === 0) break
    writeSync(output, piece, 0, length)
    await sleep(random() * PAUSE_MS_MAX)
  }
  closeSync(input)
  closeSync(output)
}

await copyFolder(from, to)
