import type { Failure } from '../platform/failure.ts'

/** What is wrong with each field, as sentences. */
export function reasonOf({ fields, message }: Failure): string {
  const sentences = Object.entries(fields ?? {}).flatMap(([field, texts]) =>
    texts.map((text) => `${field} ${text}.`),
  )
  return sentences.length === 0 ? message : sentences.join(' ')
}
