import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The position at the end of a frame: `file:///build/main.js:12:5`. */
const POSITION = /(file:\/\/[^\s()]+):(\d+):(\d+)/

const maps = new Map<string, SourceMap | undefined>()

/**
 * Has stacks of the built program name the files and lines of its sources. A map is read when the first stack is
 * shown, not at the start, which is what `--enable-source-maps` would do.
 */
const format = Error.prepareStackTrace
if (format !== undefined) {
  Error.prepareStackTrace = (error, frames) => {
    const texts = frames.map((frame) => sourceFrame(String(frame)))
    // It joins the frames, whatever they are.
    return format(error, texts as unknown as NodeJS.CallSite[])
  }
}

/** Returns a stack's line with the position in the source, or unchanged when there is no map. */
export function sourceFrame(text: string): string {
  return text.replace(POSITION, (all, url: string, line: string, column: string) => {
    // Maps count from 0, stacks from 1.
    const entry = findMap(url)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return all
    const { originalSource, originalLine, originalColumn } = entry
    return `${new URL(originalSource, url).href}:${originalLine + 1}:${originalColumn + 1}`
  })
}

function findMap(url: string): SourceMap | undefined {
  if (!maps.has(url)) maps.set(url, readMap(url))
  return maps.get(url)
}

function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')))
  } catch {
    // A stack with the positions of the build is better than none.
    return undefined
  }
}
