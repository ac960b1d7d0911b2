import assert from 'node:assert/strict'
import * as sdk from '@shlinkio/shlink-js-sdk'
import * as sdkFetch from '@shlinkio/shlink-js-sdk/fetch'
import * as sdkNode from '@shlinkio/shlink-js-sdk/node'
import { compatToken } from './compat.ts'
import type { Service } from './service.ts'

type Method =
  | 'listShortUrls'
  | 'createShortUrl'
  | 'getShortUrl'
  | 'deleteShortUrl'
  | 'updateShortUrl'
  | 'getShortUrlRedirectRules'
  | 'setShortUrlRedirectRules'
  | 'getVisitsOverview'
  | 'getShortUrlVisits'
  | 'getTagVisits'
  | 'getDomainVisits'
  | 'getOrphanVisits'
  | 'getNonOrphanVisits'
  | 'deleteShortUrlVisits'
  | 'deleteOrphanVisits'
  | 'listTags'
  | 'tagsStats'
  | 'deleteTags'
  | 'editTag'
  | 'listDomains'
  | 'editDomainRedirects'
  | 'health'
  | 'mercureInfo'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Anything = any

/** Shlink's own client. */
export type ShlinkClient = { readonly [M in Method]: (...sent: Anything[]) => Promise<Anything> }

/** The types of the package import one another without extensions, so TypeScript does not find them. */
const { ShlinkApiClient, FetchHttpClient, NodeHttpClient } = {
  ...sdk,
  ...sdkFetch,
  ...sdkNode,
} as unknown as {
  readonly ShlinkApiClient: new (
    http: object,
    server: { readonly baseUrl: string; readonly apiKey: string },
  ) => ShlinkClient
  readonly FetchHttpClient: new () => object
  readonly NodeHttpClient: new () => object
}

export { NodeHttpClient }

type Refusal = {
  readonly status: number
  readonly type: string
  readonly title: string
  readonly detail: string
}

export const SHLINK_ERRORS = 'https://shlink.io/api/error/'

export function shlinkClient(
  { baseUrl }: Pick<Service, 'baseUrl'>,
  apiKey: string,
  http: object = new FetchHttpClient(),
): ShlinkClient {
  return new ShlinkApiClient(http, { baseUrl, apiKey })
}

export async function shlinkClientOf(service: Service, workspace: string): Promise<ShlinkClient> {
  return shlinkClient(service, await compatToken(service, 'compat:shlink', workspace))
}

/** What the client throws: the body of the answer. */
export async function refusalOf(request: Promise<unknown>): Promise<Refusal> {
  try {
    await request
  } catch (error) {
    return error as Refusal
  }
  return assert.fail('the request was not refused')
}

/** @param extra what the error has beside the fields of all errors */
export async function expectRefused(
  request: Promise<unknown>,
  status: number,
  type: string,
  extra: object = {},
): Promise<void> {
  const { title, detail, ...body } = await refusalOf(request)
  assert.ok(title.length > 0 && detail.length > 0)
  assert.deepEqual(body, { status, type: SHLINK_ERRORS + type, ...extra })
}
