import { queryOptions } from '@tanstack/react-query'
import type { PageMeta } from '@terse/contract/pagination'
import type { UtmTemplateResource } from '@terse/contract/utm-templates'
import { request } from './request.ts'

export type UtmTemplate = UtmTemplateResource
export type UtmTemplateFields = Omit<
  UtmTemplate,
  'id' | 'workspace_id' | 'managed_by' | 'managed_at' | 'created_at' | 'updated_at'
>

const PER_PAGE = 100

type TemplatePage = { readonly data: readonly UtmTemplate[]; readonly meta: PageMeta }

export const UTM_TEMPLATES_KEY = ['utm-templates'] as const

/** All templates of the workspace, by name; a workspace has at most 500. */
export const utmTemplatesQuery = queryOptions({
  queryKey: UTM_TEMPLATES_KEY,
  async queryFn({ signal }) {
    const templates: UtmTemplate[] = []
    let last = 1
    for (let page = 1; page <= last; page += 1) {
      const query = { page, per_page: PER_PAGE }
      const answer = await request<TemplatePage>('GET', '/utm-templates', { query, signal })
      templates.push(...answer.data)
      last = answer.meta.last_page
    }
    return templates
  },
  staleTime: 30_000,
})

/** @param id undefined for a new one */
export function saveUtmTemplate(
  id: string | undefined,
  fields: UtmTemplateFields,
): Promise<UtmTemplate> {
  return id === undefined
    ? request('POST', '/utm-templates', { body: fields })
    : request('PATCH', `/utm-templates/${id}`, { body: fields })
}

export function deleteUtmTemplate(id: string): Promise<unknown> {
  return request('DELETE', `/utm-templates/${id}`, { keepalive: true })
}
