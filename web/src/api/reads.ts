// What is read, as plain data without React: `start/` sends it before the code of the dashboard has come.

import type { MembershipResource, SessionResource } from '@terse/contract/sign-in'
import { filterQuery, type LinkFilter } from './link-filter.ts'

export type Query = Readonly<
  Record<string, string | number | boolean | undefined | readonly string[]>
>

/** A read of the API: what is read, below `/api/v1`. */
export type Read = { readonly path: string; readonly query?: Query }

export function addressOf({ path, query = {} }: Read): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one))
  }
  const text = parameters.toString()
  return `/api/v1${path}${text === '' ? '' : `?${text}`}`
}

export const SESSION_READ = { path: '/session' }

export const USAGE_READ = { path: '/usage' }

export function linksRead(filter: LinkFilter, page: number, perPage: number) {
  const query = { ...filterQuery(filter), page, per_page: perPage, include: 'options' }
  return { path: '/links', query }
}

export function linkRead(id: string) {
  return { path: `/links/${id}`, query: { include: 'options' } }
}

/** The workspace that was chosen, or the first. */
export function membershipOf(
  session: SessionResource,
  id: string | undefined,
): MembershipResource | undefined {
  const { memberships } = session
  return memberships.find((one) => one.workspace_id === id) ?? memberships[0]
}

/** Later it is not the present any more. */
const AGE_MS_MAX = 10_000

/** An answer that came before the code that needs it. */
export type EarlyAnswer = {
  readonly response: Response
  /** The workspace that it was requested for; undefined for none in particular. */
  readonly workspace: string | undefined
  /** When it came, since the page was opened. */
  readonly atMs: number
}

declare global {
  interface Window {
    /** By address; undefined where none will come. */
    terseEarly?: Map<string, Promise<EarlyAnswer | undefined>>
  }
}

/** Requests what `takeEarlyAnswer` will return. The answer is read at once, so that it holds no connection. */
export async function requestEarly(
  read: Read,
  workspace?: string,
): Promise<EarlyAnswer | undefined> {
  try {
    const init = { credentials: 'same-origin', headers: headersOf(workspace) } as const
    const answer = await fetch(addressOf(read), init)
    const { status, statusText, headers } = answer
    const response = new Response(await answer.blob(), { status, statusText, headers })
    return { response, workspace, atMs: performance.now() }
  } catch {
    // It is requested again, by the code that shows what fails.
    return undefined
  }
}

/** The first request for the same address will take this answer instead of being sent. */
export function keepEarlyAnswer(read: Read, answer: Promise<EarlyAnswer | undefined>): void {
  window.terseEarly ??= new Map()
  window.terseEarly.set(addressOf(read), answer)
}

/** Returns an answer once; undefined where it was not requested early for this workspace, or is too old. */
export async function takeEarlyAnswer(
  address: string,
  workspace: string | undefined,
): Promise<Response | undefined> {
  const waiting = window.terseEarly?.get(address)
  if (waiting === undefined) return undefined
  window.terseEarly?.delete(address)
  const early = await waiting
  if (early === undefined || performance.now() - early.atMs > AGE_MS_MAX) return undefined
  const isMeant = early.workspace === undefined || early.workspace === workspace
  return isMeant ? early.response : undefined
}

/** Returns the headers of every request. */
export function headersOf(workspace: string | undefined): Record<string, string> {
  return {
    Accept: 'application/json',
    ...(workspace !== undefined && { 'Terse-Workspace': workspace }),
  }
}
