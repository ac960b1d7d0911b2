import type { ClickReportResource } from '@terse/contract/clicks'
import type { TagResource } from '@terse/contract/tags'
import { z } from 'zod'
import type { CallApi } from '../../identity/index.ts'
import { ALL_TIME_DAYS, daysAgo, readReport, singleClicksFault } from '../clicks.ts'
import { readSpan } from '../lists.ts'
import { invalidData, tagConflict, tagNotFound } from './problems.ts'
import { listOf, parseBody, type ShlinkCall, type ShlinkQuery, spanOf } from './requests.ts'

const ITEMS_PER_PAGE_MAX = 1_000
/** As many tags as one request to our API deletes. */
const DELETED_MAX = 10
const REPORTED_MAX = 1_000

export async function listTags(shlink: ShlinkCall, query: ShlinkQuery) {
  const { items, total, request } = await readTags(shlink, query)
  const names = items.map(({ name }) => name)
  return { tags: listOf(names, total, request) }
}

export async function countTags(shlink: ShlinkCall, query: ShlinkQuery) {
  const { items, total, request } = await readTags(shlink, query)
  const groups = await clicksByTag(shlink.call)
  const counts = new Map(groups.map((group) => [group.value, group]))
  const stats = items.map(({ name, links }) => {
    const { clicks: nonBots = 0, bots = 0 } = counts.get(name) ?? {}
    const visitsSummary = { total: nonBots + bots, nonBots, bots }
    return { tag: name, shortUrlsCount: links, visitsSummary }
  })
  return { tags: listOf(stats, total, request) }
}

type Groups = Extract<ClickReportResource, { group_by: string }>

/** None where the workspace has more single clicks than a report reads: its tags are listed all the same. */
async function clicksByTag(call: CallApi): Promise<Groups['data']> {
  const query = { group_by: 'tag', bots: 'include', limit: REPORTED_MAX }
  try {
    const from = daysAgo(ALL_TIME_DAYS)
    return (await readReport<Groups>(call, '/clicks', { ...query, from })).data
  } catch (error) {
    if (singleClicksFault(error) === undefined) throw error
    return []
  }
}

async function readTags({ call }: ShlinkCall, query: ShlinkQuery) {
  const request = query.page(ITEMS_PER_PAGE_MAX, ITEMS_PER_PAGE_MAX)
  const [field, direction = 'ASC'] = (query.text('orderBy') ?? 'tag').split('-')
  const name = field === 'shortUrlsCount' ? 'links' : 'name'
  const sort = direction.toUpperCase() === 'DESC' ? `-${name}` : name
  const filters = { search: query.text('searchTerm'), sort }
  return { ...(await readSpan<TagResource>(call, '/tags', filters, spanOf(request))), request }
}

const renameBody = z.looseObject({ oldName: z.string().min(1), newName: z.string().min(1) })

/** @throws {ShlinkProblem} */
export async function renameTag({ call }: ShlinkCall, sent: unknown): Promise<void> {
  const { oldName, newName } = parseBody(renameBody, sent)
  if (!(await hasLinks(call, oldName))) throw tagNotFound(oldName)
  if (oldName === newName) return
  // Our API would merge the two tags.
  if (await hasLinks(call, newName)) throw tagConflict(oldName, newName)
  await untilDone(call, '/tags/rename', { tags: [oldName], name: newName })
}

/** @throws {ShlinkProblem} */
export async function deleteTags({ call }: ShlinkCall, query: ShlinkQuery): Promise<void> {
  const tags = query.list('tags')
  if (tags.length === 0) throw invalidData(['tags'])
  for (let start = 0; start < tags.length; start += DELETED_MAX) {
    await untilDone(call, '/tags/delete', { tags: tags.slice(start, start + DELETED_MAX) })
  }
}

/** Whether a tag exists: it does as long as a link has it. */
async function hasLinks(call: CallApi, tag: string): Promise<boolean> {
  const query = { tag, fields: 'id', archived: 'any' }
  return (await readSpan(call, '/links', query, { start: 0, limit: 1 })).total > 0
}

async function untilDone(call: CallApi, path: string, body: object): Promise<void> {
  while (!(await call.post<{ done: boolean }>(path, body)).done);
}
