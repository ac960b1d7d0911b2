import { type Countries, openCountries } from '../../clicks/record/countries.ts'
import type { Config } from '../config/read-config.ts'

/** @throws when `TERSE_COUNTRY_DATABASE` does not name a country database */
export async function openCountriesOf({ countryDatabase }: Config): Promise<Countries> {
  try {
    return await openCountries(countryDatabase)
  } catch (error) {
    if (countryDatabase === undefined) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`TERSE_COUNTRY_DATABASE names no country database (${reason})`)
  }
}
