import { filterQuery, type LinkFilter } from './link-filter.ts'

// What is read, as plain data: `start/` sends it before the code of the dashboard has come.

export const SESSION_READ = { path: '/session' }

export const USAGE_READ = { path: '/usage' }

export function linksRead(filter: LinkFilter, page: number, perPage: number) {
  return { path: '/links', query: { ...filterQuery(filter), page, per_page: perPage } }
}

export function linkRead(id: string) {
  return { path: `/links/${id}` }
}
