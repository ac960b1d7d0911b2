import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { faultText } from '@terse/contract/faults'
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { commandLine } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import type { ImportOptions, NewImport } from '../import.ts'
import {
  originOf,
  SOURCE_ACCESS,
  SOURCE_KINDS,
  SourceInputError,
  type SourceKind,
  type SourceSettings,
  sourceSettings,
} from '../source-kinds.ts'
import { reviveCommand } from './revive.ts'
import { type ImportTools, runToEnd } from './run-import.ts'
import { type VerifyServices, verifyCommand } from './verify.ts'

export function importCommands(
  terminal: Terminal,
  withImports: RunWith<ImportTools>,
  withVerification: RunWith<VerifyServices>,
): Command {
  return importCommand(terminal, withImports)
    .addCommand(verifyCommand(terminal, withVerification))
    .addCommand(reviveCommand(terminal, withImports))
}

type Options = {
  readonly workspace: string
  readonly domain: Readonly<Record<string, string>>
  readonly map: Readonly<Record<string, string>>
  readonly ignoreColumn: readonly string[]
  readonly onConflict: ImportOptions['onConflict']
  readonly timezone: string
  readonly dryRun: boolean
  readonly report?: string
  readonly tokenFile?: string
  readonly url?: string
  readonly json?: true
}

function importCommand(terminal: Terminal, withImports: RunWith<ImportTools>): Command {
  return new Command('import')
    .description(
      'Import links from another service. The same command goes on where a stopped one was. Exits with 2 if rows were refused.',
    )
    .addArgument(new Argument('<source>', 'what to read').choices(SOURCE_KINDS))
    .argument('[file-or-url]', 'the file, or the address of the service or its database')
    .requiredOption('--workspace <name>', 'the workspace to import into')
    .option(
      '--domain <old=new>',
      'where the links of a domain go; =new for links without one; may be repeated',
      collectPairs,
      {},
    )
    .option(
      '--map <field=column>',
      'the column of a CSV file that has a field; may be repeated',
      collectPairs,
      {},
    )
    .option(
      '--ignore-column <column>',
      'a column of a CSV file that is no field, though it may say that links are closed; may be repeated',
      (column: string, before: readonly string[]) => [...before, column],
      [],
    )
    .addOption(
      new Option('--on-conflict <rule>', 'what to do when a key is taken')
        .choices(['skip', 'update', 'rename', 'fail'])
        .default('skip'),
    )
    .option('--timezone <name>', 'of dates without one, such as Europe/Berlin', parseZone, 'UTC')
    .option('--dry-run', 'only report what would be done', false)
    .option('--report <file>', 'write what became of each row, as CSV')
    .option('--token-file <file>', 'the token of the service (default: TERSE_IMPORT_TOKEN)')
    .option('--url <address>', 'of an API other than the usual one of the service')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example(
        'import csv links.csv --workspace acme --domain old.example=go.example.com --dry-run',
        'import yourls-sql yourls.sql --workspace acme --domain =go.example.com --report report.csv',
        'import shlink https://s.example.com --workspace acme --token-file shlink.token',
      ),
    )
    .action(async (source: SourceKind, input: string | undefined, options: Options) => {
      await withImports((tools) => run(terminal, tools, { source, input, options }))
    })
}

async function run(
  terminal: Terminal,
  tools: ImportTools,
  asked: { source: SourceKind; input: string | undefined; options: Options },
): Promise<void> {
  const { source: kind, options } = asked
  const workspace = await tools.workspaces.getByNameOrId(options.workspace)
  const actor = commandLine(workspace.id)
  const settings = await settingsOf(asked)
  const importOptions: ImportOptions = {
    domains: options.domain,
    onConflict: options.onConflict,
    timeZone: options.timezone,
    columns: options.map,
    ignoredColumns: options.ignoreColumn,
  }
  const request: NewImport = { source: kind, isDryRun: options.dryRun, options: importOptions }
  const identity = [request, await identityOf(settings)]
  await runToEnd(terminal, tools, {
    ...{ actor, request, identity, options },
    run: (importer, begun, signal) =>
      importer.run(begun, () => tools.openSource(settings), {
        originOf: (name) => originOf(name, settings),
        signal,
      }),
  })
}

async function settingsOf({
  source,
  input,
  options,
}: {
  source: SourceKind
  input: string | undefined
  options: Options
}): Promise<SourceSettings> {
  const isFile = SOURCE_ACCESS[source] === 'file'
  if (SOURCE_ACCESS[source] === 'token' && input !== undefined) {
    throw new Error(`The source ${source} takes no file or address; --url sets another API.`)
  }
  try {
    return sourceSettings(source, {
      ...(input !== undefined && (isFile ? { file: path.resolve(input) } : { url: input })),
      ...(options.url !== undefined && { url: options.url }),
      token: isFile ? undefined : await readToken(options.tokenFile),
      timeZone: options.timezone,
      columns: options.map,
      ignoredColumns: options.ignoreColumn,
    })
  } catch (error) {
    if (!(error instanceof SourceInputError)) throw error
    throw new Error(`The source ${source}: ${HINTS[error.field]} ${faultText(error.fault)}.`)
  }
}

/** Where each is given. */
const HINTS: Readonly<Record<SourceInputError['field'], string>> = {
  file: 'its file',
  url: 'its address',
  token: '--token-file or TERSE_IMPORT_TOKEN',
  columns: '--map',
}

async function readToken(file: string | undefined): Promise<string | undefined> {
  const text = file === undefined ? process.env.TERSE_IMPORT_TOKEN : await readFile(file, 'utf8')
  return text?.trim()
}

/** What makes a source the same at the next run: not its secrets, but the state of its file. */
async function identityOf(settings: SourceSettings): Promise<unknown> {
  const { kind } = settings
  if ('file' in settings) {
    const { size, mtimeMs } = await stat(settings.file).catch((error) => {
      if (hasErrorCode(error, 'ENOENT')) throw new Error(`There is no file ${settings.file}.`)
      throw error
    })
    return [kind, settings.file, size, mtimeMs]
  }
  return [originOf(kind, settings), 'domains' in settings ? settings.domains : null]
}

function collectPairs(
  text: string,
  before: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at < 0 || at === text.length - 1) {
    throw new InvalidArgumentError('It must be a pair such as old.example=new.example.')
  }
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

function parseZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new InvalidArgumentError('It must be a time zone such as Europe/Berlin.')
  }
}
