import { type Command, InvalidArgumentError, type Option } from 'commander'
import { ListedOption } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'

/** The options that set a field of a link, as commander names them. */
export type LinkOptions = {
  readonly domain?: string
  readonly key?: string
  readonly url?: string
  readonly tag?: readonly string[]
  readonly expires?: string
  readonly expiredUrl?: string
  readonly ios?: string
  readonly android?: string
  readonly utmSource?: string
  readonly utmMedium?: string
  readonly utmCampaign?: string
  readonly utmTerm?: string
  readonly utmContent?: string
  readonly utmName?: string
  readonly externalId?: number
  readonly password?: true
  readonly clear?: readonly string[]
}

/** Fields that `--clear` sets to null. */
const CLEARED = [
  'tags',
  'expires_at',
  'expired_redirect_url',
  'ios',
  'android',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
  'external_id',
  'password',
]

export function addLinkOptions(command: Command): Command {
  return command
    .addOption(
      new ListedOption(
        '--domain <host>',
        'its domain; that of the service if not given',
        'domains',
      ),
    )
    .option('--key <key>', 'the path of the short link')
    .addOption(tagOption('a tag; give it several times for several'))
    .option('--expires <instant>', 'when it ends, such as 2027-01-01T00:00:00Z')
    .option('--expired-url <url>', 'the destination after that')
    .option('--ios <url>', 'the destination of iPhones and iPads')
    .option('--android <url>', 'the destination of Android devices')
    .option('--utm-source <text>', 'utm_source of the destination')
    .option('--utm-medium <text>', 'utm_medium of the destination')
    .option('--utm-campaign <text>', 'utm_campaign of the destination')
    .option('--utm-term <text>', 'utm_term of the destination')
    .option('--utm-content <text>', 'utm_content of the destination')
    .option('--utm-name <text>', 'utm_name of the destination')
    .option('--external-id <number>', 'its number in another system', parseInteger)
    .option('--password', 'protect it by a password, read from a prompt or from standard input')
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
  const given: Record<string, unknown> = {
    domain: options.domain,
    key: options.key,
    url: options.url,
    tags: options.tag,
    expires_at: options.expires,
    expired_redirect_url: options.expiredUrl,
    ios: options.ios,
    android: options.android,
    utm_source: options.utmSource,
    utm_medium: options.utmMedium,
    utm_campaign: options.utmCampaign,
    utm_term: options.utmTerm,
    utm_content: options.utmContent,
    utm_name: options.utmName,
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
