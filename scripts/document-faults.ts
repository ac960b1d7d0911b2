import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const UNCHECKED_FOLDERS = new Set(['node_modules', '.git', 'build', 'data', 'dist', 'release'])
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'docs', 'contract', 'bin']
const SOURCE = /^[\w./-]+\.(?:ts|mjs|md)$/
/** Matches patterns and placeholders, which name several files. */
const PATTERN = /[\s*<…]|NNN/
const LINK = /\]\(([^)\s]+)\)/g
const CODE = /`([^`\n]+)`/g
const FENCE = /^```[\s\S]*?^```/gm
const STATUS = /^Status: (?:proposed|accepted|superseded by \d{3}) \(\d{4}-\d{2}-\d{2}[^()\n]*\)$/m
const DECISION = /^docs\/decisions\/(\d{3})-[\w-]+\.md$/
const MODULES_PAGE = 'docs/architecture.md'
const IMPORT_RULES = '.dependency-cruiser.mjs'
const LOG_PAGE = 'docs/operating/monitoring.md'
/** Documents about the past, in which names that are gone are right. */
const HISTORY = /^(?:CHANGELOG\.md$|bench\/results\/)/
/** The most lines of a document; what is longer is a manual in the wrong place, or a diary. */
const LINES_MAX: readonly (readonly [RegExp, number])[] = [
  [/^README\.md$/, 200],
  [/^docs\/architecture\.md$/, 250],
  [/^docs\/(?:performance|reliability)\.md$/, 150],
  [DECISION, 90],
]
const SCRIPT = /\bnpm (?:run |(?=(?:start|test)\b))([a-z][a-z:-]*)/g
/** Settings, variables of benches and tests, and metrics. */
const NAME =
  /\b(?:(?:TERSE|BENCH|FUZZ|FAULT|KILL|SOAK|FLOOD)_[A-Z0-9_]+|terse_[a-z0-9]+_[a-z0-9_]+)\b/g
const DERIVED = /_FILE$|_(?:bucket|sum|count)$/
const CODE_FILE = /\.(?:[cm]?[jt]sx?|json|yml|yaml|sh)$|(?:^|\/)Dockerfile$/
/** Matches a comment, or its continuation, that begins its line. */
const COMMENT = /^\s*(?:\/\/|\/?\*)(.*)$/gm
const COMMENTED_FILE = /(?<![\w./*<-])[\w-][\w./-]*\.(?:ts|tsx|mjs|md)(?:#[\w-]+)?(?![\w*])/g
const DECISION_NUMBER = /\bdecisions? (\d{3})\b/gi
/** Matches a source file with the number of its lines, such as "`<name>.ts`, 60 lines". */
const COUNTED_LINES = /`([\w./-]+\.(?:ts|mjs))`[,)]? \(?(\d[\d,]*) lines/g
const DECISION_SECTIONS = ['Context', 'Decision', 'Consequences', 'Rejected']

type File = { readonly name: string; readonly text: string }

/** A repository: its folder, and the names of its files and folders relative to it. */
type Repository = {
  readonly root: string
  readonly files: readonly string[]
  readonly entries: ReadonlySet<string>
  /** The scripts of package.json. */
  readonly scripts: ReadonlySet<string>
  /** Every word of the code. */
  readonly words: ReadonlySet<string>
}

/**
 * Returns the faults of the documents below `root`, and of what comments in the code say of files,
 * each as a sentence that begins with the file's name. Faults are: a link to a missing file or heading;
 * the name of a missing source file, folder, script of npm, setting, variable or metric; the number of a
 * missing decision; modules that differ from the import rules; the number of lines of a source file, which changes; the explanation of a log message
 * that no code writes; a decision without a part of its header; a document that is too long. A source
 * file is named by its full path or by the end of it, such as `clicks/journal/record.ts`.
 */
export function findDocumentFaults(root: string): readonly string[] {
  const files = filesBelow(root, '')
  const entries = new Set(files.flatMap((file) => [file, ...foldersOf(file)]))
  const code = files.filter((file) => CODE_FILE.test(file))
  const words = new Set(code.flatMap((file) => readText(root, file).match(/\w{4,}/g) ?? []))
  const repository = { root, files, entries, words, scripts: scriptsOf(root, entries) }
  return [
    ...files
      .filter((file) => file.endsWith('.md'))
      .map((name) => ({ name, checks: checksOf(name) })),
    ...code
      .filter((file) => file.endsWith('.ts'))
      .map((name) => ({ name, checks: [commentFaults] })),
  ].flatMap(({ name, checks }) => {
    const file = { name, text: readText(root, name) }
    return checks.flatMap((find) => find(file, repository)).map((fault) => `${name} ${fault}`)
  })
}

type Check = (file: File, repository: Repository) => readonly string[]

function checksOf(name: string): readonly Check[] {
  const always = [linkFaults, decisionFaults, logFaults, lengthFaults, moduleFaults]
  return HISTORY.test(name)
    ? always
    : [...always, nameFaults, scriptFaults, wordFaults, numberFaults, countFaults]
}

function scriptsOf(root: string, entries: ReadonlySet<string>): ReadonlySet<string> {
  if (!entries.has('package.json')) return new Set()
  return new Set(Object.keys(JSON.parse(readText(root, 'package.json')).scripts ?? {}))
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

/** Checks that the drawing and the table of the modules have them in the order of the import rules. */
function moduleFaults({ name, text }: File, { root, entries }: Repository): readonly string[] {
  if (name !== MODULES_PAGE || !entries.has(IMPORT_RULES)) return []
  const [, list = ''] = /const MODULES = \[([^\]]*)\]/.exec(readText(root, IMPORT_RULES)) ?? []
  const modules = [...list.matchAll(/'(\w+)'/g)].map(([, module = '']) => module)
  const [drawing = ''] = text.match(/^```mermaid[\s\S]*?^```/m) ?? []
  const table = [...text.matchAll(/^\| `src\/(\w+)\/` \|/gm)].map(([, module = '']) => module)
  const isSame = (words: readonly string[]) =>
    [...new Set(words)].filter((word) => modules.includes(word)).join() === modules.join()
  return [
    ...(isSame(drawing.match(/\w+/g) ?? [])
      ? []
      : [`draws other modules than ${IMPORT_RULES} has`]),
    ...(isSame(table) ? [] : [`lists other modules than ${IMPORT_RULES} has, or in another order`]),
  ]
}

function lengthFaults({ name, text }: File): readonly string[] {
  const lines = text.split('\n').length - 1
  const [, most] = LINES_MAX.find(([pattern]) => pattern.test(name)) ?? []
  return most === undefined || lines <= most ? [] : [`has ${lines} lines, of at most ${most}`]
}

function scriptFaults({ text }: File, { scripts }: Repository): readonly string[] {
  return codeOf(text).flatMap((code) =>
    [...code.matchAll(SCRIPT)].flatMap(([command, script = '']) =>
      scripts.has(script) ? [] : [`names ${command}, which is no script of package.json`],
    ),
  )
}

function wordFaults({ text }: File, { words }: Repository): readonly string[] {
  return [...text.matchAll(NAME)].flatMap(([name]) => {
    const isKnown = name.endsWith('_') || words.has(name) || words.has(name.replace(DERIVED, ''))
    return isKnown ? [] : [`names ${name}, which no code has`]
  })
}

function numberFaults({ text }: File, { files }: Repository): readonly string[] {
  const numbers = new Set(files.map((file) => DECISION.exec(file)?.[1]))
  return [...text.replaceAll(/\s+/g, ' ').matchAll(DECISION_NUMBER)].flatMap(([named, number]) =>
    numbers.has(number) ? [] : [`names ${named}, which does not exist`],
  )
}

function countFaults({ text }: File): readonly string[] {
  return [...text.matchAll(COUNTED_LINES)].map(
    ([, file, lines]) => `says that ${file} has ${lines} lines, which changes`,
  )
}

/** Checks the files, headings and decisions that comments name. */
function commentFaults({ text }: File, repository: Repository): readonly string[] {
  const comments = [...text.matchAll(COMMENT)].map(([, comment = '']) => comment).join('\n')
  const missing = [...comments.matchAll(COMMENTED_FILE)].flatMap(([target]) => {
    const [file = '', anchor] = target.split('#')
    const named = [...repository.entries].find((entry) => `/${entry}`.endsWith(`/${file}`))
    if (named === undefined) return [`names ${file} in a comment, which does not exist`]
    if (anchor === undefined || anchorsOf(readText(repository.root, named)).has(anchor)) return []
    return [`names ${target} in a comment, but ${named} has no such heading`]
  })
  return [...missing, ...numberFaults({ name: '', text: comments }, repository)]
}

/** Returns the spans and blocks of code in a document, indented blocks included. */
function codeOf(text: string): readonly string[] {
  const fences = text.match(FENCE) ?? []
  const rest = text.replaceAll(FENCE, '')
  return [
    ...fences,
    ...(rest.match(/^ {4}\S.*$/gm) ?? []),
    ...[...rest.matchAll(CODE)].map(([, code = '']) => code),
  ]
}
