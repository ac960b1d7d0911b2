import { Argument, Command } from 'commander'
import type { ListName } from '../../platform/cli/options.ts'
import { plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { openRemote } from '../open-remote.ts'

/** How long the service may take: a person waits for the Tab key. */
const WAIT_MS = 1_000
/** More than anybody reads through; what is typed narrows tags down before. */
const VALUES_MAX = 1_000
const PER_PAGE = 100
/** The API looks for no longer text. */
const SEARCH_LENGTH_MAX = 50

/**
 * Internal command of the completion scripts: prints the domains or tags of the service, a line each. Prints those that
 * came in time, and nothing of a fault: it would stand in the middle of what a person types.
 */
export function listedCommand(terminal: Terminal): Command {
  return new Command('listed')
    .addArgument(new Argument('<list>').choices(['domains', 'tags'] satisfies ListName[]))
    .argument('[typed]', 'only those that contain this')
    .action(async (list: ListName, typed = '') => {
      const values: string[] = []
      try {
        for await (const value of list === 'tags' ? tags(typed) : domains()) {
          values.push(plainText(value))
          if (values.length >= VALUES_MAX) break
        }
      } catch {
        // Not logged in, too slow, or not allowed.
      }
      if (values.length > 0) terminal.out(values.join('\n'))
    })
}

/** Opens the service. Its time begins once all code is loaded, which takes longer on a slow machine. */
async function openInTime() {
  const late = new AbortController()
  const remote = await openRemote({ signal: late.signal })
  setTimeout(() => late.abort(), WAIT_MS).unref()
  return remote
}

async function* domains(): AsyncGenerator<string> {
  const { domainPage } = await import('@terse/contract/domains')
  const { client, ownHost } = await openInTime()
  yield ownHost
  for (let page = 1, last = 1; page <= last; page += 1) {
    const { data, meta } = await client.get('/domains', domainPage, { page, per_page: PER_PAGE })
    for (const { domain } of data) yield domain
    last = meta.last_page
  }
}

async function* tags(typed: string): AsyncGenerator<string> {
  const { tagPage } = await import('@terse/contract/tags')
  const { client } = await openInTime()
  const search = typed.length > SEARCH_LENGTH_MAX || typed === '' ? undefined : typed
  for (let page = 1, last = 1; page <= last; page += 1) {
    const { data, meta } = await client.get('/tags', tagPage, { search, page, per_page: PER_PAGE })
    for (const { name } of data) yield name
    last = meta.last_page
  }
}
