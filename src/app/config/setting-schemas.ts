import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { parseRetention } from '../../backup/retention.ts'
import { Networks } from '../../platform/network/ip-address.ts'

type Setting<S extends z.ZodType> = {
  /** Reads the variable's text. */
  readonly schema: S
  /** The text that stands for an unset variable; undefined where unset means something else. */
  readonly default: string | undefined
  /** What an unset variable means, where no text says it. */
  readonly unset?: string
  readonly description: string
  /** A secret may also come from the file that the variable with `_FILE` appended names. */
  readonly secret?: true
  /** The text is a path. A relative one in a settings file begins at the folder of that file. */
  readonly path?: true
}

/** Keeps the type that the schema reads. */
export function setting<S extends z.ZodType>(options: Setting<S>): Setting<S> {
  return options
}

/** The roles of a node. The description of `TERSE_ROLES` explains each. */
export const ROLES = ['redirect', 'api', 'jobs'] as const

export const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/

/** Recipients for X25519 and for its hybrid with a post-quantum method. */
const RECIPIENT = /^age1(?:pq1)?[02-9ac-hj-np-z]{58,4000}$/

export function networks(text: string, context: z.RefinementCtx): Networks {
  const list = new Networks()
  for (const cidr of text.split(',').map((part) => part.trim())) {
    if (cidr !== '' && !list.add(cidr)) {
      context.addIssue({ code: 'custom', message: `"${cidr}" is not an address or CIDR network` })
    }
  }
  return list
}

/** `192.0.2.0/24,2001:db8::/32`, or the absolute path of a file with one network a line; `#` begins a comment. */
export function networksOrFile(text: string, context: z.RefinementCtx): Networks {
  if (!path.isAbsolute(text)) return networks(text, context)
  try {
    const lines = readFileSync(text, 'utf8').split('\n')
    return networks(lines.map((line) => line.replace(/#.*/, '')).join(), context)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    context.addIssue({ code: 'custom', message: `the file cannot be read (${reason})` })
    return new Networks()
  }
}

function listed(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

export function addresses(text: string, context: z.RefinementCtx): readonly string[] {
  const list = listed(text)
  for (const cidr of list) {
    if (!new Networks().add(cidr)) {
      context.addIssue({ code: 'custom', message: `"${cidr}" is not an address or CIDR network` })
    }
  }
  return Object.freeze(list)
}

/** `example.com,example.org`, or `none`. */
export function hostNames(text: string, context: z.RefinementCtx): readonly string[] {
  const list = text.trim() === 'none' ? [] : listed(text.toLowerCase())
  const names = list.map((name) => name.replace(/\.$/, ''))
  for (const name of names) {
    if (!HOST_NAME.test(name)) {
      context.addIssue({ code: 'custom', message: `"${name}" is not a host name with a dot` })
    }
  }
  return Object.freeze(names)
}

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
export function dnsServers(text: string, context: z.RefinementCtx): readonly string[] {
  const list = listed(text)
  for (const server of list) {
    const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(server) ?? []
    const isAddress = bracketed === undefined ? isIP(plain ?? server) !== 0 : isIP(bracketed) === 6
    if (!isAddress || Number(port ?? 53) > 65_535 || Number(port ?? 53) === 0) {
      context.addIssue({
        code: 'custom',
        message: `"${server}" is not an address, with or without port`,
      })
    }
  }
  return Object.freeze(list)
}

/** `192.0.2.1:3001` or `[2001:db8::1]:3001`. */
export function addressAndPort(
  text: string,
  context: z.RefinementCtx,
): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  const port = Number(digits)
  if (isIP(host) !== (bracketed === undefined ? 4 : 6) || !(port >= 1 && port <= 65_535)) {
    context.addIssue({
      code: 'custom',
      message: 'must be an address with port, such as 10.0.0.5:3001',
    })
  }
  return Object.freeze({ host, port })
}

export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
}

/** One of some words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` })
}

/** One of two words, of which the first means true. */
export function flag(yes: string, no: string) {
  return z.enum([yes, no], { error: `must be ${yes} or ${no}` }).transform((text) => text === yes)
}

const SPAN_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const SPAN_MS_MAX = 366 * SPAN_MS.d

/** `30m`, `6h` or `1d`; returns milliseconds. */
export const timeSpan = z.string().transform((text, context) => {
  const [, count = '', unit = 'm'] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS]
  if (ms > 0 && ms <= SPAN_MS_MAX) return ms
  context.addIssue({ code: 'custom', message: 'must be a time such as 30m, 6h or 1d' })
  return z.NEVER
})

/** `24h,14d,8w,12m`, or `all`, which is undefined. */
export const retention = z.string().transform((text, context) => {
  if (text.trim() === 'all') return undefined
  const parsed = parseRetention(text)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: 'custom', message: 'must be a list such as 24h,14d,8w,12m, or all' })
  return z.NEVER
})

/** Recipients of age. */
export const recipients = z.string().transform((text, context): readonly string[] => {
  const list = listed(text)
  for (const recipient of list) {
    if (!RECIPIENT.test(recipient)) {
      context.addIssue({ code: 'custom', message: `"${recipient}" is not a recipient of age` })
    }
  }
  return Object.freeze(list)
})

/** More processes than this only compete with each other, on any machine. */
const PROCESSES_MAX = 256

/** A number of processes; `auto` is one for each available core. */
export const processCount = z
  .string()
  .refine((text) => text === 'auto' || integer(1, PROCESSES_MAX).safeParse(text).success, {
    message: `must be a whole number from 1 to ${PROCESSES_MAX}, or auto`,
  })
  .transform((text) => (text === 'auto' ? availableParallelism() : Number(text)))

export type Role = (typeof ROLES)[number]

/** The roles of a node, such as `redirect,api`. */
export const roleList = z.string().transform((text, context): readonly Role[] => {
  const names = listed(text)
  const roles = ROLES.filter((role) => names.includes(role))
  if (roles.length === 0 || roles.length !== new Set(names).size) {
    context.addIssue({ code: 'custom', message: `must name some of ${ROLES.join(', ')}` })
  }
  return Object.freeze(roles)
})

export const baseUrl = z
  .string()
  .refine(
    (text) => {
      const url = URL.parse(text)
      return (
        url !== null &&
        (url.protocol === 'http:' || url.protocol === 'https:') &&
        url.username === '' &&
        url.password === '' &&
        url.pathname === '/' &&
        url.search === '' &&
        url.hash === ''
      )
    },
    {
      message:
        'must be an http:// or https:// address without a path, such as https://go.example.com',
    },
  )
  .transform((text) => new URL(text).origin)

export const httpsUrl = z
  .string()
  .refine((text) => URL.parse(text)?.protocol === 'https:', {
    message: 'must be an https:// address',
  })
  .transform((text) => new URL(text).href)

export const schemes = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim().toLowerCase().replace(/:$/, '')))
  .transform((list) => list.filter((scheme) => scheme !== ''))
  .refine((list) => list.every((scheme) => /^[a-z][a-z0-9+.-]*$/.test(scheme)), {
    message: 'must be a list of URL schemes such as myapp,spotify',
  })
