import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A fenced block of a document. */
export type Example = {
  readonly page: string
  /** The number of the line with the opening fence. */
  readonly line: number
  /** The language after the fence: `sh` is pasted as a whole; `console` has prompts, commands and their output. */
  readonly language: string
  readonly text: string
  /** From the comment above: why the block is not run here, or which test file runs it. */
  readonly notRun?: string
  readonly runBy?: string
}

/** A command, and what the page shows that it prints; undefined where the page shows nothing. */
export type TypedCommand = { readonly typed: string; readonly shown: string | undefined }

const FENCE = /^( *)```(.*)$/
const MARK = /^ *<!-- (not run|run by):? (.+) -->$/
const PROMPT = /^[$#] /

/** Returns the paths of all documents of the repository. */
export function documents(): readonly string[] {
  return globSync(['*.md', '{docs,deploy,web}/**/*.md'], {
    cwd: ROOT,
    exclude: (name) => name === 'node_modules',
  }).sort()
}

/** Returns the fenced blocks of a document, in order. */
export function readExamples(page: string, text = readPage(page)): readonly Example[] {
  const examples: Example[] = []
  const lines = text.split('\n')
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent, language] = FENCE.exec(lines[index] ?? '') ?? []
    if (indent === undefined || language === undefined) continue
    const end = lines.indexOf(`${indent}\`\`\``, index + 1)
    if (end < 0) throw new Error(`${page}:${index + 1} has a block without an end`)
    const body = lines.slice(index + 1, end).map((line) => line.slice(indent.length))
    const line = index + 1
    examples.push({ page, line, language, text: body.join('\n'), ...markAbove(lines, index) })
    index = end
  }
  return examples
}

function readPage(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8')
}

function markAbove(lines: readonly string[], fence: number): { notRun?: string; runBy?: string } {
  const [, kind, words] = MARK.exec(lines[fence - 1] ?? '') ?? []
  if (words === undefined) return {}
  return kind === 'run by' ? { runBy: words } : { notRun: words }
}

/** Returns what a reader types: a block of `sh` in one go, each command of a `console` by itself. */
export function commandsOf({ language, text }: Example): readonly TypedCommand[] {
  if (language === 'sh') return [{ typed: text, shown: undefined }]
  const commands: { typed: string; shown: string | undefined }[] = []
  for (const line of text.split('\n')) {
    const last = commands.at(-1)
    if (PROMPT.test(line)) commands.push({ typed: line.slice(2), shown: undefined })
    else if (last === undefined) throw new Error(`begins with output: ${line}`)
    else if (last.shown === undefined && last.typed.endsWith('\\')) last.typed += `\n${line}`
    else last.shown = last.shown === undefined ? line : `${last.shown}\n${line}`
  }
  return commands
}
