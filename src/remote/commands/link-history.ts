import type { LinkChange } from '@terse/contract/link-history'
import type { Command } from 'commander'
import { collect, example, parseUpTo } from '../../platform/cli/options.ts'
import { plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { LINK, openRemote } from '../open-remote.ts'
import { withOption } from './rules.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 1_000
const PER_PAGE_MAX = 100
/** A longer value is cut: rules may have 64 KiB. */
const VALUE_LENGTH_MAX = 80

type Output = { readonly json?: true }
type RevertOptions = Output & {
  readonly to?: true
  readonly field?: readonly string[]
  readonly acceptChanges?: true
}

export function addHistory(command: Command, terminal: Terminal): void {
  command
    .command('history')
    .description('Show who changed what of a link, the newest change first.')
    .argument(...LINK)
    .option('--limit <number>', 'how many changes to show', parseUpTo(LIMIT_MAX), LIMIT_DEFAULT)
    .option('--json', 'print JSON')
    .addHelpText('after', example('link history spring'))
    .action(async (text: string, { json, limit }: Output & { readonly limit: number }) => {
      const { client, find } = await openRemote()
      const { linkHistoryPage } = await import('@terse/contract/link-history')
      const { id } = await find(text)
      const changes: LinkChange[] = []
      let cursor: string | null = ''
      while (cursor !== null && changes.length < limit) {
        const per_page = Math.min(PER_PAGE_MAX, limit - changes.length)
        const path = `/links/${id}/history`
        const page: { data: LinkChange[]; meta: { next_cursor: string | null } } = await client.get(
          path,
          linkHistoryPage,
          { per_page, cursor },
        )
        changes.push(...page.data)
        cursor = page.meta.next_cursor
      }
      terminal.out(json ? plainJson(changes) : changes.map(textOf).join('\n'))
    })
}

export function addRevert(command: Command, terminal: Terminal): void {
  command
    .command('revert')
    .description('Undo a change of a link.')
    .argument(...LINK)
    .argument('<change>', 'its number in "link history"', parseUpTo(Number.MAX_SAFE_INTEGER))
    .option('--to', 'undo all later changes instead: return to the state after this one')
    .option(
      '--field <field>',
      'set back only this field; give it several times for several',
      collect,
    )
    .option('--accept-changes', 'also if it changes where examples of the link lead')
    .option('--json', 'print JSON')
    .addHelpText('after', example('link revert spring 1204', 'link revert spring 1190 --to'))
    .action(async (text: string, change: number, options: RevertOptions) => {
      const { client, find, addressOf } = await openRemote()
      const { linkSchema } = await import('@terse/contract/links')
      const before = await find(text)
      const body = { [options.to ? 'to' : 'sequence']: change, fields: options.field }
      const query = options.acceptChanges ? '?accept_changes=true' : ''
      try {
        const link = await client.post(`/links/${before.id}/revert${query}`, linkSchema, body)
        if (options.json) terminal.out(plainJson(link))
        else {
          const isSame = link.updated_at === before.updated_at
          const what = isSame ? 'has these values already' : 'is set back'
          terminal.err(`${plainText(addressOf(link))} ${what}.`)
        }
      } catch (error) {
        throw withOption(error)
      }
    })
}

/** The number, when, who, and a line for each field. */
function textOf({ sequence, at, actor, type, before, after }: LinkChange): string {
  const act = type === 'link.created' ? 'created it' : 'changed it'
  const head = `${sequence}  ${at.slice(0, 19)}Z  ${plainText(actor.name)} ${act}`
  const fields = Object.entries(after ?? {}).map(([field, value]) => {
    const earlier = before !== null && field in before ? `${valueText(before[field])} → ` : ''
    return `  ${field}: ${earlier}${valueText(value)}`
  })
  return [head, ...fields].join('\n')
}

function valueText(value: unknown): string {
  if (value === null) return '–'
  const text = plainText(typeof value === 'string' ? value : JSON.stringify(value))
  return text.length <= VALUE_LENGTH_MAX ? text : `${text.slice(0, VALUE_LENGTH_MAX)}…`
}
