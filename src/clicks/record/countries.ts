import { closeSync, openSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type CountryResponse, Reader } from 'mmdb-lib'
import { isPrivateAddress } from '../../platform/network/ip-address.ts'

/** Returns the country of an address: ISO 3166-1 alpha-2, or '' if unknown or private. */
export type Countries = (address: string) => string

const BUNDLED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country'

/** Finds the entry of an address. Throws if the address is invalid or the database damaged. */
type Find = (address: string) => CountryResponse | null

/**
 * Opens a country database.
 *
 * @param file a file in MaxMind's format (.mmdb), which is read into memory; defaults to the bundled one
 * @throws if the file cannot be read or has another format
 */
export async function openCountries(file: string | undefined): Promise<Countries> {
  const find = file === undefined ? openBundled() : finderIn(await readFile(file))
  return (address) => {
    if (address === '' || isPrivateAddress(address)) return ''
    try {
      return codeOf(find(address))
    } catch {
      return ''
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
  const reader = new Reader<CountryResponse>(bytes)
  return (address) => reader.get(address)
}

/** Country-only databases have the code at the top level, those of MaxMind and DB-IP inside `country`. */
function codeOf(entry: object | null): string {
  if (entry === null) return ''
  if ('country_code' in entry) return checked(entry.country_code)
  if ('country' in entry) return checked(isoCodeOf(entry.country))
  return ''
}

function isoCodeOf(country: unknown): unknown {
  return typeof country === 'object' && country !== null && 'iso_code' in country
    ? country.iso_code
    : undefined
}

function checked(code: unknown): string {
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : ''
}
