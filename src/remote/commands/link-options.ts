import { fromFields, type LinkText, UTM_FIELDS } from '@terse/contract/link-fields'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ListedOption } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'

/** The options of a link's texts; a password is read from the terminal. */
const TEXT_OPTIONS: {
  readonly [F in Exclude<LinkText, 'password'>]: {
    readonly flags: string
    readonly description: string
  }
} = {
  expires_at: {
    flags: '--expires <instant>',
    description: 'when it ends, such as 2027-01-01T00:00:00Z',
  },
  expired_redirect_url: {
    flags: '--expired-url <url>',
    description: 'the destination after that',
  },
  ios: { flags: '--ios <url>', description: 'the destination of iPhones and iPads' },
  android: { flags: '--android <url>', description: 'the destination of Android devices' },
  ...fromFields(UTM_FIELDS, (field) => ({
    flags: `--${field.replace('_', '-')} <text>`,
    description: `${field} of the destination`,
  })),
}

const TEXT_FIELDS = Object.keys(TEXT_OPTIONS) as (keyof typeof TEXT_OPTIONS)[]

/** The options that set a field of a link, as commander names them; those of `TEXT_OPTIONS` are further texts. */
export type LinkOptions = {
  readonly domain?: string
  readonly key?: string
  readonly url?: string
  readonly tag?: readonly string[]
  readonly externalId?: number
  readonly password?: true
  readonly clear?: readonly string[]
}

/** Fields that `--clear` sets to null. */
const CLEARED: readonly string[] = ['tags', ...TEXT_FIELDS, 'external_id', 'password']

export function addLinkOptions(command: Command): Command {
  command
    .addOption(
      new ListedOption(
        '--domain <host>',
        'its domain; that of the service if not given',
        'domains',
      ),
    )
    .option('--key <key>', 'the path of the short link')
    .addOption(tagOption('a tag; give it several times for several'))
  for (const field of TEXT_FIELDS) command.addOption(textOption(field))
  return command
    .option('--external-id <number>', 'its number in another system', parseInteger)
    .option('--password', 'protect it by a password, read from a prompt or from standard input')
}

function textOption(field: keyof typeof TEXT_OPTIONS): Option {
  const { flags, description } = TEXT_OPTIONS[field]
  return new Option(flags, description)
}

export function addClearOption(command: Command): Command {
  const names = CLEARED.join(', ')
  return command.option(
    '--clear <field>',
    `remove a value: ${names}`,
    (field: string, fields: readonly string[] = []) => {
      if (CLEARED.includes(field)) return [...fields, field]
      throw new InvalidArgumentError(`It must be one of ${names}.`)
    },
  )
}

/** Returns the fields of a request: those that were given. Reads the password. */
export async function linkBody(
  terminal: Terminal,
  options: LinkOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const texts: Readonly<Record<string, unknown>> = options
  const given: Record<string, unknown> = {
    domain: options.domain,
    key: options.key,
    url: options.url,
    tags: options.tag,
    ...fromFields(TEXT_FIELDS, (field) => texts[textOption(field).attributeName()]),
    external_id: options.externalId,
  }
  if (options.password) given.password = await terminal.readSecret('Password of the link: ')
  for (const field of options.clear ?? []) given[field] = null
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

export function tagOption(description: string): Option {
  return new ListedOption('--tag <tag>', description, 'tags').argParser(collect)
}

function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value]
}

function parseInteger(text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(number)) return number
  throw new InvalidArgumentError('It must be a whole number.')
}
