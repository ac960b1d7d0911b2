import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { findDocumentFaults } from '../../scripts/document-faults.ts'

const DECISION = [
  '# 001 A title',
  '',
  'Status: accepted (2026-11-22)',
  '',
  ...['Context', 'Decision', 'Consequences', 'Rejected'].flatMap((name) => [`## ${name}`, '']),
].join('\n')

const LOG = '# Monitoring\n\n## The log\n\n| message | action |\n| --- | --- |\n'

/** Returns a page that draws and lists these modules. */
function architecture(modules: readonly string[]): string {
  const rows = modules.map((name) => `| \`src/${name}/\` | its nouns |`).join('\n')
  return `\`\`\`mermaid\n${modules.join(' --> ')}\n\`\`\`\n${rows}\n`
}

/** Returns the faults of a repository with these files. */
function faultsIn(t: TestContext, files: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(path.join(tmpdir(), 'terse-documents-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return findDocumentFaults(root)
}

const SOUND: { name: string; files: Record<string, string> }[] = [
  {
    name: 'links to a file, a folder, a heading and a web page',
    files: {
      'README.md':
        '# Top\n[a](docs/a.md) [b](docs) [c](docs/a.md#the-log-it-has) [d](#top) [e](https://x.example/y)',
      'docs/a.md': '## The `log`, it has\n[up](../README.md#top)',
    },
  },
  {
    name: 'source files by their full path and by the end of it, folders, and patterns',
    files: {
      'README.md':
        '`src/a/b.ts` `a/b.ts` `b.ts` `src/a/` `src/*.ts` `docs/NNN-x.md` `src/<name>.ts`',
      'src/a/b.ts': '',
    },
  },
  {
    name: 'links and names in a fenced code block',
    files: { 'README.md': '```\n[a](missing.md) `src/missing.ts`\n```\n' },
  },
  { name: 'a decision with its whole header', files: { 'docs/decisions/001-a.md': DECISION } },
  {
    name: 'the explanation of a log message that the code writes',
    files: {
      'docs/operating/monitoring.md': `${LOG}| \`journal taken over\` | none |\n`,
      'src/a.ts': "log.warn('journal taken over')",
    },
  },
  {
    name: 'scripts of npm, settings, files that hold a secret, and metrics that exist',
    files: {
      'README.md':
        '`npm start` and `npm run a` with `TERSE_PORT`, TERSE_KEY_FILE, TERSE_… and `terse_a_seconds_count`',
      'package.json': '{"scripts":{"start":"","a":""}}',
      'src/a.ts': "['TERSE_PORT', 'TERSE_KEY', 'terse_a_seconds']",
    },
  },
  {
    name: 'settings that are gone in the changelog and in dated results',
    files: { 'CHANGELOG.md': '`TERSE_GONE`', 'bench/results/a.md': '`src/gone.ts` `TERSE_GONE`' },
  },
  {
    name: 'modules in the order of the import rules',
    files: {
      'docs/architecture.md': architecture(['links', 'hosts']),
      '.dependency-cruiser.mjs': "const MODULES = ['links', 'hosts']",
      'src/links/a.ts': '',
      'src/hosts/a.ts': '',
    },
  },
  {
    name: 'files, headings and decisions that comments name',
    files: {
      'src/a.ts': '/** See `b.ts`, docs/a.md#top and decision 001. */\n// `<name>.ts`, *.ts',
      'src/b.ts': "'gone.ts'",
      'docs/a.md': '# Top',
      'docs/decisions/001-a.md': DECISION,
    },
  },
  {
    name: 'faulty documents of dependencies',
    files: { 'node_modules/x/README.md': '[a](missing.md)' },
  },
]

const FAULTY: { name: string; files: Record<string, string>; faults: string[] }[] = [
  {
    name: 'a link to a missing file',
    files: { 'docs/a.md': '[a](../docs/b.md)' },
    faults: ['docs/a.md links to ../docs/b.md, which does not exist'],
  },
  {
    name: 'a link to a missing heading of another document and of its own',
    files: { 'a.md': '[a](b.md#gone) [b](#gone)', 'b.md': '# There' },
    faults: [
      'a.md links to b.md#gone, but b.md has no such heading',
      'a.md links to #gone, but a.md has no such heading',
    ],
  },
  {
    name: 'a link to a heading that is only in a fenced code block',
    files: { 'a.md': '[a](#gone)\n```\n# gone\n```\n' },
    faults: ['a.md links to #gone, but a.md has no such heading'],
  },
  {
    name: 'the names of a missing source file and a missing folder',
    files: { 'a.md': '`x/b.ts` and `src/c/`', 'src/b.ts': '' },
    faults: ['a.md names x/b.ts, which does not exist', 'a.md names src/c/, which does not exist'],
  },
  {
    name: 'a decision without its number, status and a section',
    files: {
      'docs/decisions/002-a.md': DECISION.replace('## Rejected', '').replace(' (2026', ' 2026'),
    },
    faults: [
      'docs/decisions/002-a.md must begin with "# 002 "',
      'docs/decisions/002-a.md has no line such as "Status: accepted (2026-11-22)"',
      'docs/decisions/002-a.md has no section "Rejected"',
    ],
  },
  {
    name: 'a script of npm, a setting and a metric that do not exist',
    files: {
      'a.md': '```sh\nnpm run chek\n```\n`TERSE_PROT=1` `terse_gone_total`',
      'package.json': '{"scripts":{"check":""}}',
      'src/a.ts': "'TERSE_PORT'",
    },
    faults: [
      'a.md names npm run chek, which is no script of package.json',
      'a.md names TERSE_PROT, which no code has',
      'a.md names terse_gone_total, which no code has',
    ],
  },
  {
    name: 'the number of a decision that does not exist',
    files: { 'a.md': 'as decision\n002 says', 'docs/decisions/001-a.md': DECISION },
    faults: ['a.md names decision 002, which does not exist'],
  },
  {
    name: 'the number of lines of a source file',
    files: { 'a.md': 'by `src/b.ts`, 60 lines', 'src/b.ts': '' },
    faults: ['a.md says that src/b.ts has 60 lines, which changes'],
  },
  {
    name: 'a page that is too long',
    files: { 'docs/performance.md': '\n'.repeat(151) },
    faults: ['docs/performance.md has 151 lines, of at most 150'],
  },
  {
    name: 'modules in another order than that of the import rules, and a missing one',
    files: {
      'docs/architecture.md': architecture(['hosts', 'links']),
      '.dependency-cruiser.mjs': "const MODULES = ['links', 'hosts', 'clicks']",
      'src/links/a.ts': '',
      'src/hosts/a.ts': '',
    },
    faults: [
      'docs/architecture.md draws other modules than .dependency-cruiser.mjs has',
      'docs/architecture.md lists other modules than .dependency-cruiser.mjs has, or in another order',
    ],
  },
  {
    name: 'a comment that names a missing file, heading and decision',
    files: {
      'src/a.ts': '/**\n * See gone.ts and a.md#gone.\n */\n// decision 002',
      'a.md': '# A',
    },
    faults: [
      'src/a.ts names gone.ts in a comment, which does not exist',
      'src/a.ts names a.md#gone in a comment, but a.md has no such heading',
      'src/a.ts names decision 002, which does not exist',
    ],
  },
  {
    name: 'the explanation of a log message that no code writes',
    files: {
      'docs/operating/monitoring.md': `${LOG}| \`journal taken over\` | none |\n`,
      'src/a.ts': "log.warn('journal adopted')",
      'test/a.ts': "'journal taken over'",
    },
    faults: [
      'docs/operating/monitoring.md explains the log message "journal taken over", which no code writes',
    ],
  },
]

describe('findDocumentFaults', () => {
  for (const { name, files } of SOUND) {
    test(`finds no fault in ${name}`, (t) => assert.deepEqual(faultsIn(t, files), []))
  }

  for (const { name, files, faults } of FAULTY) {
    test(`reports ${name}`, (t) => assert.deepEqual(faultsIn(t, files), faults))
  }
})
