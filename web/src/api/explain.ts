import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ExplainBody, ExplanationResource } from '@terse/contract/explain'
import { request } from './request.ts'

/** Where a made-up visitor goes, by rules that may not be saved. The last answer stays until the next one has come. */
export function explanationQuery(linkId: string, body: ExplainBody) {
  return queryOptions({
    queryKey: ['explanation', linkId, body],
    queryFn: ({ signal }) =>
      request<ExplanationResource>('POST', `/links/${linkId}/explain`, { body, signal }),
    placeholderData: keepPreviousData,
    retry: false,
  })
}
