import type { ExplanationResource } from '@terse/contract/explain'
import { Command, Option } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { RemoteFault } from '../login-file.ts'
import { LINK, openRemote } from '../open-remote.ts'
import { valueWords } from './rules.ts'

type ExplainOptions = {
  readonly country?: string
  readonly address?: string
  readonly agent?: string
  readonly language?: string
  readonly at?: string
  readonly path?: string
  readonly query?: string
  readonly referrer?: string
  readonly label?: string
  readonly method?: string
  readonly qr?: true
  readonly prefetch?: true
  readonly password?: true
  readonly click?: string
  readonly json?: true
}

export function explainCommand(terminal: Terminal): Command {
  return new Command('explain')
    .description('Explain where a made-up visitor of a link goes, and why.')
    .argument(...LINK)
    .option('--country <code>', 'their country, such as DE')
    .option('--address <address>', 'their IP address, in place of the country')
    .option('--agent <text>', 'the User-Agent header of their browser')
    .option('--language <tags>', 'the Accept-Language header, such as de or "de-AT,en;q=0.8"')
    .option('--at <instant>', 'when they come, such as 2026-12-24T18:00:00Z; now if not given')
    .option('--path <path>', 'the path that they visit, such as /docs/guide; the key if not given')
    .option('--query <text>', 'what stands behind the question mark, such as "vip=1&b=2"')
    .option('--referrer <page>', 'the page with the link, or its host')
    .option('--label <label>', 'the label of the visit')
    .addOption(new Option('--method <method>', 'of the request').choices(['GET', 'HEAD']))
    .option('--qr', 'they scanned a tracked QR code')
    .option('--prefetch', 'their browser only prefetches the page')
    .option('--password', 'they know the password of the link')
    .option('--click <id>', 'explain a recorded click; exports of clicks have its id')
    .option('--json', 'print JSON')
    .addHelpText('after', example('explain spring --country DE --language de'))
    .action(async (text: string, { json, ...visitor }: ExplainOptions) => {
      if (visitor.click !== undefined && Object.keys(visitor).length > 1) {
        throw new RemoteFault('Give either --click or a made-up visitor.', 'validation_failed')
      }
      const { client, find } = await openRemote()
      const { explanationSchema } = await import('@terse/contract/explain')
      const { id } = await find(text)
      const explained = await client.post(`/links/${id}/explain`, explanationSchema, visitor)
      terminal.out(json ? plainJson(explained) : describe(explained))
    })
}

const PAGES: { readonly [K in ExplanationResource['kind']]?: string } = {
  'ask-password': 'a page that asks for the password',
  expired: 'a page that the link has expired',
  upcoming: 'a page that the link is not active yet',
  'used-up': 'a page that the link has had all of its clicks',
  preview: 'a page for programs, which use up no click',
  'not-found': 'a page that there is no such link',
  'unknown-host': 'a page that the domain is unknown',
  loop: 'a page that the redirect leads in circles',
}

function describe(explained: ExplanationResource): string {
  const { status, location, kind, domain_works, unknown, recorded } = explained
  const lines = [
    `${status} ${location === null ? (PAGES[kind] ?? kind) : `→ ${location}`}`,
    deciderWords(explained),
    ...explained.rules.map(ruleLine),
    ...urlLines(explained),
    countWords(explained),
    ...(domain_works ? [] : ['The domain does not work yet: this is how it will be.']),
    ...(recorded === null
      ? []
      : [
          `When it was recorded, ${recorded.rule ?? 'no rule'} decided. Not recorded: ${unknown.join(', ')}.`,
        ]),
  ]
  return lines.map(plainText).join('\n')
}

function deciderWords({ decided_by: { by, rule, name, variant, chosen_by } }: ExplanationResource) {
  if (by !== 'rule') return `Decided by ${by.replace(/^domain_/, 'the domain’s ')}.`
  const of = variant === null ? '' : `, variant ${variant} by its ${chosen_by}`
  return `Decided by the rule ${name ?? rule}${of}.`
}

function ruleLine(
  { id, name, of, result, failed }: ExplanationResource['rules'][number],
  index: number,
): string {
  const mark = result === 'decided' ? '✓' : result === 'failed' ? '✗' : '·'
  const called = `${index + 1}. ${name ?? id}${of === 'rule_set' ? ' (rule set)' : ''}`
  if (failed === null) return `  ${mark} ${called}${result === 'not_tried' ? ', not tried' : ''}`
  const found = failed.found === '' ? 'nothing' : failed.found
  return `  ${mark} ${called}: ${failed.path} wants ${valueWords(failed.wanted)}, found ${found}`
}

function urlLines({ url }: ExplanationResource): string[] {
  if (url === null) return []
  return [
    `  destination  ${url.destination}`,
    ...url.placeholders.map(({ of, name, value }) => {
      const placeholder = of === 'query' ? `{query.${name}}` : `{${name}}`
      return `  ${placeholder}  ${value || 'nothing'}`
    }),
    ...(url.path === null ? [] : [`  path  ${url.path}`]),
    ...url.utm.map(({ name, value }) => `  set  ${name}=${value}`),
    ...url.query.map(
      ({ parameter, effect, reason }) =>
        `  ${effect}  ${parameter}${reason === null ? '' : ` (${reason.replaceAll('_', ' ')})`}`,
    ),
    ...url.replaced.map((parameter) => `  dropped  ${parameter}`),
  ]
}

function countWords({ counted: { as, flags } }: ExplanationResource): string {
  if (as === 'nothing') return 'Counts as nothing.'
  return as === 'click' ? 'Counts as a click.' : `Counts as one of a bot: ${flags.join(', ')}.`
}
