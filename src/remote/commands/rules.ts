import { readFileSync } from 'node:fs'
import type { LinkRulesResource, QueryTest, Rule, TimeSpan, When } from '@terse/contract/rules'
import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { RemoteFault } from '../login-file.ts'
import { LINK, openRemote } from '../open-remote.ts'

type Output = { readonly json?: true }

export function rulesCommand(terminal: Terminal): Command {
  const command = new Command('rules')
    .description('Show or replace the rules of a link, which send some of its visitors elsewhere.')
    .argument(...LINK)
    .option('--json', 'print JSON, which "rules set" takes')
    .addHelpText('after', example('rules spring --json', 'rules set spring rules.json'))
    .action(async (text: string, { json }: Output) => {
      const { client, find } = await openRemote()
      const { rulesSchema } = await import('@terse/contract/rules')
      const { id } = await find(text)
      print(terminal, await client.get(`/links/${id}/rules`, rulesSchema), json)
    })
  command
    .command('set')
    .description('Replace all rules of a link.')
    .argument(...LINK)
    .argument('<file>', 'JSON as "rules --json" prints it; - for standard input')
    .option('--accept-changes', 'also if it changes where examples of the link lead')
    .option('--json', 'print JSON')
    .addHelpText('after', example('rules set spring rules.json'))
    .action(
      async (text: string, file: string, options: Output & { readonly acceptChanges?: true }) => {
        const { client, find } = await openRemote()
        const { rulesSchema } = await import('@terse/contract/rules')
        const body = readRules(file)
        const { id } = await find(text)
        const query = options.acceptChanges ? '?accept_changes=true' : ''
        try {
          const path = `/links/${id}/rules${query}`
          print(terminal, await client.put(path, rulesSchema, body), options.json)
        } catch (error) {
          throw withOption(error)
        }
      },
    )
  return command
}

/** Names the option in place of the parameter of the API. */
export function withOption<E>(error: E): E | RemoteFault {
  if (!(error instanceof RemoteFault) || error.code !== 'examples_changed') return error
  const message = error.message.replace(
    / Send accept_changes=true in the query/,
    ' Give --accept-changes',
  )
  return new RemoteFault(message, error.code)
}

/** @throws {RemoteFault} */
export function readRules(file: string): unknown {
  const read = readJson(file)
  return Array.isArray(read) ? { rules: read } : read
}

/**
 * @param file `-` for standard input
 * @throws {RemoteFault}
 */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new RemoteFault(`${file} cannot be read: ${reason}.`, 'validation_failed')
  }
}

function print(terminal: Terminal, shown: LinkRulesResource, json?: true): void {
  if (json) terminal.out(plainJson(shown))
  else printRules(terminal, shown)
}

/** Prints rules as sentences. */
export function printRules(
  terminal: Terminal,
  shown: { readonly rules: LinkRulesResource['rules'] },
): void {
  if (shown.rules.length === 0) terminal.out('It has no rules.')
  else terminal.out(shown.rules.map(paragraphOf).join('\n'))
}

function paragraphOf(rule: Rule, index: number): string {
  const { id, name, then } = rule
  const { split = [], end, remember_days } = then
  const sum = split.reduce((total, { weight }) => total + weight, 0)
  const ways = split.map(
    ({ name: variant, url, weight }) =>
      `${variant}, ${Math.round((weight / sum) * 1000) / 10} % → ${url}`,
  )
  const more = [
    ...(remember_days === undefined ? [] : [`kept by a cookie for ${remember_days} days`]),
    ...(end === undefined ? [] : [`from ${end.at} on all get ${end.variant}`]),
  ]
  const lines = [
    `${index + 1}. ${name ?? id}`,
    `   ${sentenceOf(rule.when)}`,
    ...(then.url === undefined ? [] : [`   → ${then.url}`]),
    ...[...ways, ...more].map((line) => `   ${line}`),
  ]
  return lines.map(plainText).join('\n')
}

/** Returns conditions as words: `if the country is DE or AT and the device is phone`. */
function sentenceOf({ not = {}, any = [], ...plain }: When): string {
  const parts = [
    ...wordsOf(plain, 'is'),
    ...wordsOf(not, 'is not'),
    ...(any.length === 0
      ? []
      : [`(${any.map((group) => wordsOf(group, 'is').join(' and ')).join(', or ')})`]),
  ]
  return parts.length === 0 ? 'everyone' : `if ${parts.join(' and ')}`
}

function wordsOf(conditions: Omit<When, 'not' | 'any'>, is: string): string[] {
  return Object.entries(conditions).map(([name, wanted]) => `${name} ${is} ${valueWords(wanted)}`)
}

/** Returns the value of a condition as words. */
export function valueWords(wanted: unknown): string {
  if (!Array.isArray(wanted)) return String(wanted)
  return wanted
    .map((each: unknown) => (typeof each === 'string' ? each : objectWords(each)))
    .join(' or ')
}

function objectWords(value: unknown): string {
  if (isQueryTest(value)) {
    const { name, equals, contains, present } = value
    if (equals !== undefined) return `${name}=${equals}`
    if (contains !== undefined) return `${name} containing ${contains}`
    return present ? name : `without ${name}`
  }
  const { from, until, weekdays, hours, zone } = Object(value) as TimeSpan
  const parts = [
    from && `from ${from}`,
    until && `until ${until}`,
    weekdays?.join(', '),
    hours && `${hours.from} to ${hours.until}`,
    zone,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? JSON.stringify(value) : parts.join(' ')
}

function isQueryTest(value: unknown): value is QueryTest {
  return typeof value === 'object' && value !== null && 'name' in value
}
