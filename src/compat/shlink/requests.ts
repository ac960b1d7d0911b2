import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { CallApi } from '../../identity/index.ts'
import { microsOf } from '../../imports/index.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import type { Span } from '../lists.ts'
import { invalidData } from './problems.ts'

/** What the answer to a request needs of Terse. */
export type ShlinkCall = {
  readonly call: CallApi
  /** The host that a link is on whose domain is null at Shlink. */
  readonly defaultHost: string
  readonly serviceHost: string
}

type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>

/** The parameters of a query, with PHP's names of lists: `tags[]`. */
export class ShlinkQuery {
  readonly #values: QueryValues

  constructor(request: FastifyRequest) {
    this.#values = request.query as QueryValues
  }

  text(name: string): string | undefined {
    const value = [this.#values[name] ?? []].flat().at(-1)
    return value === '' ? undefined : value
  }

  list(name: string): readonly string[] {
    const values = [this.#values[`${name}[]`] ?? this.#values[name] ?? []].flat()
    return [...new Set(values.filter((value) => value !== ''))]
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined
  }

  isTrue(name: string): boolean {
    return ['true', '1'].includes(this.text(name) ?? '')
  }

  /** @throws {ShlinkProblem} for text that is no date */
  micros(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const micros = microsOf(text)
    if (micros === null) throw invalidData([name], `${name} is no date.`)
    return micros
  }

  /** @throws {ShlinkProblem} */
  page(itemsPerPageDefault: number, itemsPerPageMax: number): PageRequest {
    const page = this.#count('page') ?? 1
    const wanted =
      this.text('itemsPerPage') === '-1' ? itemsPerPageMax : this.#count('itemsPerPage')
    return { page, itemsPerPage: Math.min(wanted ?? itemsPerPageDefault, itemsPerPageMax) }
  }

  #count(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const count = Number(text)
    if (Number.isSafeInteger(count) && count > 0) return count
    throw invalidData([name], `${name} must be a number above 0.`)
  }
}

export type PageRequest = { readonly page: number; readonly itemsPerPage: number }

export function spanOf({ page, itemsPerPage }: PageRequest): Span {
  return { start: (page - 1) * itemsPerPage, limit: itemsPerPage }
}

/** A list as Shlink answers it. */
export function listOf<T>(data: readonly T[], total: number, { page, itemsPerPage }: PageRequest) {
  return {
    data,
    pagination: {
      currentPage: page,
      pagesCount: Math.max(1, Math.ceil(total / itemsPerPage)),
      itemsPerPage,
      itemsInCurrentPage: data.length,
      totalItems: total,
    },
  }
}

/** @throws {ShlinkProblem} with the names of all fields that have another type */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body ?? {})
  if (parsed.success) return parsed.data
  const names = parsed.error.issues.map(({ path }) => String(path[0] ?? 'body'))
  throw invalidData([...new Set(names)])
}

const NUMBER = /^\d+$/
const TRUE: readonly unknown[] = ['true', '1', 1]
const FALSE: readonly unknown[] = ['false', '0', 0, '']

/** Shlink's clients send numbers and booleans as texts too. */
export const countInput = z.preprocess(
  (value) => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value),
  z.int().min(1),
)

export const flagInput = z.preprocess(
  (value) => (TRUE.includes(value) ? true : FALSE.includes(value) ? false : value),
  z.boolean(),
)

/** Gives an instant as our API takes it. */
export const dateInput = z.string().transform((text, context) => {
  const micros = microsOf(text)
  if (micros !== null) return formatInstant(micros)
  context.addIssue('is no date')
  return z.NEVER
})

/** An instant of our API as Shlink has it: `2026-01-02T03:04:05+00:00`. */
export function shlinkDate(instant: string): string {
  return `${instant.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}+00:00`
}
