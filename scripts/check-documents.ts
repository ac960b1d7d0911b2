import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Fails when a document links to a file or a heading that does not exist, names a source file or a
 * folder that does not exist, explains a log message that no code writes, or when a decision lacks a
 * part of its header. A source file is named by its full path or by the end of it, such as
 * `clicks/journal/frame.ts`.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const UNCHECKED_FOLDERS = new Set(['node_modules', '.git', 'data'])
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'docs', 'contract', 'bin']
const SOURCE = /^[\w./-]+\.(?:ts|mjs|md)$/
/** A pattern or a placeholder for several files. */
const UNNAMED = /[\s*<…]|NNN/
const LINK = /\]\(([^)\s]+)\)/g
const CODE = /`([^`\n]+)`/g
const FENCE = /^```[\s\S]*?^```/gm
const STATUS = /^Status: (?:accepted|superseded by \d{3}) \(\d{4}-\d{2}-\d{2}[^()\n]*\)$/m
const DECISION = /^docs\/decisions\/(\d{3})-[\w-]+\.md$/
const LOG_PAGE = 'docs/operating/monitoring.md'
const DECISION_SECTIONS = ['Context', 'Decision', 'Consequences', 'Rejected']

type File = { readonly name: string; readonly text: string }

function filesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (UNCHECKED_FOLDERS.has(entry.name)) return []
    const name = path.posix.join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(name) : [name]
  })
}

const files = filesBelow('')
const entries = [...new Set(files.flatMap((file) => [file, ...foldersOf(file)]))]

function foldersOf(file: string): readonly string[] {
  const folder = path.posix.dirname(file)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

/** The anchors that GitHub makes of a document's headings. */
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

function linkFaults({ name, text }: File): readonly string[] {
  return [...text.replaceAll(FENCE, '').matchAll(LINK)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', anchor] = target.split('#')
    const linked = file === '' ? name : path.posix.join(path.posix.dirname(name), file)
    const found = entries.includes(linked.replace(/\/$/, ''))
    if (!found) return [`links to ${target}, which does not exist`]
    if (anchor === undefined || !statSync(path.join(ROOT, linked)).isFile()) return []
    const anchors = anchorsOf(readFileSync(path.join(ROOT, linked), 'utf8'))
    return anchors.has(anchor) ? [] : [`links to ${target}, but ${linked} has no such heading`]
  })
}

function nameFaults({ text }: File): readonly string[] {
  return [...text.replaceAll(FENCE, '').matchAll(CODE)].flatMap(([, code = '']) => {
    const isFolder = FOLDERS.some((folder) => code.startsWith(`${folder}/`))
    if (UNNAMED.test(code) || (!isFolder && !SOURCE.test(code))) return []
    const suffix = code.replace(/\/$/, '')
    const exists = entries.some((entry) => entry === suffix || entry.endsWith(`/${suffix}`))
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

/** Every log message for which the operating guide says what to do must be in the code. */
function logFaults({ name, text }: File): readonly string[] {
  if (name !== LOG_PAGE) return []
  const cells = text.slice(text.indexOf('\n## The log\n')).matchAll(/^\|([^|]*)\|/gm)
  const messages = [...cells].flatMap(([, cell = '']) => [...cell.matchAll(CODE)])
  const code = files
    .filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .join('\n')
  return messages.flatMap(([, message = '']) =>
    code.includes(message) ? [] : [`explains the log message "${message}", which no code writes`],
  )
}

for (const name of files.filter((file) => file.endsWith('.md'))) {
  const file = { name, text: readFileSync(path.join(ROOT, name), 'utf8') }
  const faults = [linkFaults, nameFaults, decisionFaults, logFaults].flatMap((find) => find(file))
  for (const fault of faults) {
    process.stdout.write(`${name} ${fault}\n`)
    process.exitCode = 1
  }
}
