import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type {
  ExampleInput,
  ExplainBody,
  ExplanationResource,
  LinkExamplesResource,
} from '@terse/contract/explain'
import { ifMatch, request, requestVersioned } from './request.ts'

/** Every key of a query about explanations begins so. */
export const EXPLANATION_KEY = ['explanation'] as const

/**
 * Where a made-up visitor goes, by rules that may not be saved. The last answer stays until the next one has come.
 *
 * @param updatedAt when the link was changed last: another state of it has another explanation
 */
export function explanationQuery(linkId: string, updatedAt: string, body: ExplainBody) {
  return queryOptions({
    queryKey: [...EXPLANATION_KEY, linkId, updatedAt, body],
    queryFn: ({ signal }) =>
      request<ExplanationResource>('POST', `/links/${linkId}/explain`, { body, signal }),
    placeholderData: keepPreviousData,
    retry: false,
  })
}

/** Whether entity tags of several answers are of one state of a link: before the point they have its version. */
export function areOfOneState(one: string | undefined, other: string | undefined): boolean {
  return one?.split('.', 1)[0] === other?.split('.', 1)[0]
}

/**
 * Changes the examples of a link, as they are now. Returns its versions before and afterwards.
 *
 * @throws {ApiError} 412 where another person changes the link at the same time
 */
export async function changeExamples(
  linkId: string,
  change: (examples: readonly ExampleInput[]) => readonly ExampleInput[],
): Promise<{ readonly from: string | undefined; readonly to: string | undefined }> {
  const path = `/links/${linkId}/examples`
  const { value, version: from } = await requestVersioned<LinkExamplesResource>(path)
  const body = { examples: change(value.examples) }
  const { version: to } = await requestVersioned(path, {
    method: 'PUT',
    body,
    headers: ifMatch(from),
  })
  return { from, to }
}
