import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const UNCHECKED_FOLDERS = new Set(['node_modules', '.git', 'data', 'dist', 'release'])
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'docs', 'contract', 'bin']
const SOURCE = /^[\w./-]+\.(?:ts|mjs|md)$/
/** Matches patterns and placeholders, which name several files. */
const PATTERN = /[\s*<…]|NNN/
const LINK = /\]\(([^)\s]+)\)/g
const CODE = /`([^`\n]+)`/g
const FENCE = /^```[\s\S]*?^```/gm
const STATUS = /^Status: (?:proposed|accepted|superseded by \d{3}) \(\d{4}-\d{2}-\d{2}[^()\n]*\)$/m
const DECISION = /^docs\/decisions\/(\d{3})-[\w-]+\.md$/
const LOG_PAGE = 'docs/operating/monitoring.md'
const DECISION_SECTIONS = ['Context', 'Decision', 'Consequences', 'Rejected']

type File = { readonly name: string; readonly text: string }

/** A repository: its folder, and the names of its files and folders relative to it. */
type Repository = {
  readonly root: string
  readonly files: readonly string[]
  readonly entries: ReadonlySet<string>
}

/**
 * Returns the faults of the documents below `root`, each as a sentence that begins with the document's
 * name: a link to a missing file or heading; the name of a missing source file or folder; the explanation
 * of a log message that no code writes; a decision without a part of its header. A source file is named
 * by its full path or by the end of it, such as `clicks/journal/record.ts`.
 */
export function findDocumentFaults(root: string): readonly string[] {
  const files = filesBelow(root, '')
  const entries = new Set(files.flatMap((file) => [file, ...foldersOf(file)]))
  const repository = { root, files, entries }
  return files
    .filter((file) => file.endsWith('.md'))
    .flatMap((name) => {
      const file = { name, text: readText(root, name) }
      const faults = [linkFaults, nameFaults, decisionFaults, logFaults]
      return faults.flatMap((find) => find(file, repository)).map((fault) => `${name} ${fault}`)
    })
}

function readText(root: string, name: string): string {
  return readFileSync(path.join(root, name), 'utf8')
}

function filesBelow(root: string, folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (UNCHECKED_FOLDERS.has(entry.name)) return []
    const name = path.posix.join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(root, name) : [name]
  })
}

function foldersOf(file: string): readonly string[] {
  const folder = path.posix.dirname(file)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

/** Returns the anchors that GitHub generates for the headings of a document. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replaceAll(FENCE, '').matchAll(/^#+ (.+)$/gm)
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function linkFaults({ name, text }: File, { root, files, entries }: Repository): readonly string[] {
  return [...text.replaceAll(FENCE, '').matchAll(LINK)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', anchor] = target.split('#')
    const linked = file === '' ? name : path.posix.join(path.posix.dirname(name), file)
    const found = entries.has(linked.replace(/\/$/, ''))
    if (!found) return [`links to ${target}, which does not exist`]
    if (anchor === undefined || !files.includes(linked)) return []
    const anchors = anchorsOf(readText(root, linked))
    return anchors.has(anchor) ? [] : [`links to ${target}, but ${linked} has no such heading`]
  })
}

function nameFaults({ text }: File, { entries }: Repository): readonly string[] {
  return [...text.replaceAll(FENCE, '').matchAll(CODE)].flatMap(([, code = '']) => {
    const isFolder = FOLDERS.some((folder) => code.startsWith(`${folder}/`))
    if (PATTERN.test(code) || (!isFolder && !SOURCE.test(code))) return []
    const suffix = code.replace(/\/$/, '')
    const exists = [...entries].some((entry) => entry === suffix || entry.endsWith(`/${suffix}`))
    return exists ? [] : [`names ${code}, which does not exist`]
  })
}

function decisionFaults({ name, text }: File): readonly string[] {
  const [, number] = DECISION.exec(name) ?? []
  if (number === undefined) return []
  const missing = DECISION_SECTIONS.filter((section) => !text.includes(`\n## ${section}\n`))
  return [
    ...(text.startsWith(`# ${number} `) ? [] : [`must begin with "# ${number} "`]),
    ...(STATUS.test(text) ? [] : ['has no line such as "Status: accepted (2026-11-22)"']),
    ...missing.map((section) => `has no section "${section}"`),
  ]
}

/** Checks that the code writes every log message that the operating guide explains. */
function logFaults({ name, text }: File, { root, files }: Repository): readonly string[] {
  if (name !== LOG_PAGE) return []
  const cells = text.slice(text.indexOf('\n## The log\n')).matchAll(/^\|([^|]*)\|/gm)
  const messages = [...cells].flatMap(([, cell = '']) => [...cell.matchAll(CODE)])
  const code = files
    .filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
    .map((file) => readText(root, file))
    .join('\n')
  return messages.flatMap(([, message = '']) =>
    code.includes(message) ? [] : [`explains the log message "${message}", which no code writes`],
  )
}
