import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Reader, type Response } from 'mmdb-lib'
import { isPrivateAddress } from '../../platform/network/ip-address.ts'
import { NOWHERE, type Place } from '../click.ts'

/** Finds the place of an address; of a private one, none. */
export type Places = (address: string) => Place

const BUNDLED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country'

/** Finds the entry of an address. Throws if the address is invalid or the database damaged. */
type Find = (address: string) => Response | null

/**
 * Opens a database of countries, or of cities.
 *
 * @param file a file in MaxMind's format (.mmdb), which is read into memory; defaults to the bundled one
 * @throws if the file cannot be read or has another format
 */
export async function openPlaces(file: string | undefined): Promise<Places> {
  const find = file === undefined ? openBundled() : finderIn(await readFile(file))
  return (address) => {
    if (address === '' || isPrivateAddress(address)) return NOWHERE
    try {
      return placeOf(find(address))
    } catch {
      return NOWHERE
    }
  }
}

/** Opens the bundled database, which has a file for each version of IP. */
function openBundled(): Find {
  const find4 = finderInFile(bundledFile('ipv4'))
  const find6 = finderInFile(bundledFile('ipv6'))
  return (address) => (address.includes(':') ? find6(address) : find4(address))
}

function bundledFile(version: 'ipv4' | 'ipv6'): string {
  return fileURLToPath(import.meta.resolve(`${BUNDLED}-${version}.mmdb`))
}

/**
 * Opens a file now, and reads it, in some 5 ms, when it is first needed: the files take 3 and 5 MiB, which many
 * services never need. An upgrade that replaces the file meanwhile has no effect.
 */
function finderInFile(file: string): Find {
  const fd = openSync(file, 'r')
  let find: Find | undefined
  return (address) => {
    find ??= finderIn(readAndClose(fd))
    return find(address)
  }
}

function readAndClose(fd: number): Buffer {
  try {
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

function finderIn(bytes: Buffer): Find {
  const reader = new Reader<Response>(bytes)
  return (address) => reader.get(address)
}

/** Of a text that a database may hold; one of a click has at most 253 bytes. */
const TEXT_LENGTH_MAX = 80

/** Databases of countries alone, and flat ones of cities, have texts at the top level; those of MaxMind and DB-IP objects. */
function placeOf(entry: object | null): Place {
  if (entry === null) return NOWHERE
  const { country_code, country, state1, subdivisions, city } = entry as Record<string, unknown>
  const code = codeOf(country_code ?? fieldOf(country, 'iso_code'))
  const [first] = Array.isArray(subdivisions) ? subdivisions : []
  const regionCode = fieldOf(first, 'iso_code')
  const region =
    code !== '' && typeof regionCode === 'string' && /^[A-Z0-9]{1,3}$/.test(regionCode)
      ? `${code}-${regionCode}`
      : textOf(state1 ?? nameOf(first))
  return { country: code, region, city: textOf(typeof city === 'string' ? city : nameOf(city)) }
}

function nameOf(value: unknown): unknown {
  return fieldOf(fieldOf(value, 'names'), 'en')
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined
}

function codeOf(code: unknown): string {
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : ''
}

function textOf(text: unknown): string {
  return typeof text === 'string' && text.length <= TEXT_LENGTH_MAX ? text : ''
}

/** The metadata are within the last 128 KiB (MaxMind DB File Format Specification 2.0). */
const METADATA_BYTES_MAX = 128 * 1024
const METADATA_MARK = Buffer.from('\u00ab\u00cd\u00efMaxMind.com', 'latin1')
const TYPE_KEY = Buffer.from('database_type')
/** The low 5 bits of the byte before a text are its size; with 29 a second byte has what is beyond 29. */
const SIZE_BITS = 0x1f
const LONG_SIZE = 29

/**
 * Whether the operator's database has cities: by the type that it names, such as `GeoLite2-City` or
 * `DBIP-Location (compat=City)`. The bundled one has none. False for a file that cannot be read, which is reported where
 * it is opened.
 */
export function hasCities(file: string | undefined): boolean {
  if (file === undefined) return false
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return false
  }
  try {
    const { size } = fstatSync(fd)
    const end = Buffer.alloc(Math.min(size, METADATA_BYTES_MAX))
    readSync(fd, end, 0, end.length, size - end.length)
    const metadata = end.subarray(Math.max(0, end.lastIndexOf(METADATA_MARK)))
    return /city|enterprise/i.test(databaseTypeIn(metadata))
  } finally {
    closeSync(fd)
  }
}

/** Returns '' where the metadata name no type. */
function databaseTypeIn(metadata: Buffer): string {
  const keyAt = metadata.indexOf(TYPE_KEY)
  if (keyAt < 0) return ''
  const at = keyAt + TYPE_KEY.length
  const size = (metadata[at] ?? 0) & SIZE_BITS
  if (size < LONG_SIZE) return metadata.toString('latin1', at + 1, at + 1 + size)
  return metadata.toString('latin1', at + 2, at + 2 + LONG_SIZE + (metadata[at + 1] ?? 0))
}
