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

/** A request whose answer is undefined where none will come. */
type EarlyRequest = {
  readonly answer: Promise<EarlyAnswer | undefined>
  /** Ends the request; undefined for one that goes on. */
  readonly leave: AbortController | undefined
}

declare global {
  interface Window {
    /** By address. */
    terseEarly?: Map<string, EarlyRequest>
  }
}

/** Requests what `takeEarlyAnswer` will return. The answer is read at once, so that it holds no connection. */
export async function requestEarly(
  read: Read,
  workspace?: string,
  signal?: AbortSignal,
): Promise<EarlyAnswer | undefined> {
  try {
    const headers = headersOf(workspace)
    const answer = await fetch(addressOf(read), {
      credentials: 'same-origin',
      headers,
      signal: signal ?? null,
    })
    const response = new Response(await answer.blob(), answer)
    return { response, workspace, atMs: performance.now() }
  } catch {
    // It is requested again, by the code that shows what fails.
    return undefined
  }
}

/**
 * The first request for the same address will take this answer instead of being sent.
 *
 * @param leave ends the early request when its reader leaves
 */
export function keepEarlyAnswer(
  read: Read,
  answer: Promise<EarlyAnswer | undefined>,
  leave?: AbortController,
): void {
  window.terseEarly ??= new Map()
  window.terseEarly.set(addressOf(read), { answer, leave })
}

/**
 * Returns an answer once; undefined where it was not requested early for this workspace, or is too old.
 *
 * @param signal ends the early request too, so that the service computes no chart that has been left
 */
export async function takeEarlyAnswer(
  address: string,
  workspace: string | undefined,
  signal?: AbortSignal,
): Promise<Response | undefined> {
  const waiting = window.terseEarly?.get(address)
  if (waiting === undefined) return undefined
  window.terseEarly?.delete(address)
  signal?.addEventListener('abort', () => waiting.leave?.abort())
  const early = await waiting.answer
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
