import { type Answer, type Api, expectStatus } from './api.ts'

/** A link in an answer. */
export type LinkBody = Answer['body']

/** The fields of the specification's table, in its order. */
export const LINK_FIELDS = [
  'id',
  'workspace_id',
  'domain',
  'key',
  'url',
  'link',
  'ios',
  'android',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
  'clicks',
  'last_click',
  'external_id',
  'password',
  'expires_at',
  'expired_redirect_url',
  'tags',
  'created_at',
  'updated_at',
] as const

export const DESTINATION_FIELDS = ['url', 'ios', 'android', 'expired_redirect_url'] as const

/**
 * Sample values of the fields that an update leaves unchanged when they are missing, and clears
 * when they are null.
 */
export const OPTIONAL_FIELDS = {
  ios: 'https://apps.example.com/ios',
  android: 'https://apps.example.com/android',
  utm_source: 'newsletter',
  utm_medium: 'email',
  utm_campaign: 'spring sale',
  utm_term: 'shoes & boots',
  utm_content: 'grüner Knopf',
  utm_name: 'A/B',
  external_id: 42,
  expires_at: '2030-01-02T03:04:05.678901Z',
  expired_redirect_url: 'https://example.com/over',
  tags: ['spring', 'Étude'],
} as const

export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** Creates a link on the service's own host; `fields` add to the defaults or replace them. */
export function postLink(api: Api, fields: Record<string, unknown> = {}): Promise<Answer> {
  return api.post('/links', { domain: 'localhost', url: 'https://example.com/', ...fields })
}

export async function createLink(
  api: Api,
  fields: Record<string, unknown> = {},
): Promise<LinkBody> {
  return expectStatus(await postLink(api, fields), 201).body
}

export async function showLink(api: Api, id: string): Promise<LinkBody> {
  return expectStatus(await api.get(`/links/${id}`), 200).body
}

/** The keys of the links in a list, in its order. */
export async function listedKeys(api: Api, query: string): Promise<string[]> {
  const { body } = expectStatus(await api.get(`/links${query}`), 200)
  return body.data.map((link: LinkBody) => link.key)
}
