import type { Config } from '../config/read-config.ts'
import type { ClickRecorder } from '../domain/clicks/click.ts'
import { deriveKey } from '../domain/instance/instance-keys.ts'
import { isServiceHost } from '../http/service-host.ts'
import { systemRandom } from '../lib/random.ts'
import type { ClickCap } from '../redirect/click/click-cap.ts'
import { clickMaker } from '../redirect/click/click-maker.ts'
import { type Countries, openCountries } from '../redirect/click/countries.ts'
import { VisitorSalts } from '../redirect/click/visitor-salts.ts'
import type { LinkFinder } from '../redirect/find-link.ts'
import { type RedirectHandler, redirectHandler } from '../redirect/handler.ts'
import { passwordCookies } from '../redirect/password-cookie.ts'
import { sharedAddressReporter } from './click-cap.ts'
import { type Foundation, logFailure, vaultOf } from './foundation.ts'

export function openRedirect(
  foundation: Foundation,
  finder: LinkFinder,
  recorder: ClickRecorder,
  clicks: {
    readonly salts: VisitorSalts
    readonly countries: Countries
    readonly cap: ClickCap | undefined
  },
): RedirectHandler {
  const { config, instance, log, serviceHost, throttles } = foundation
  const { clock, instanceKey } = instance
  const sharedHost = {
    keyspaceId: serviceHost.keyspaceId,
    notFoundUrl: null,
    expiredUrl: null,
    hstsMaxAge: config.hstsSeconds === 0 ? null : config.hstsSeconds,
  }
  return redirectHandler({
    finder,
    recorder,
    makeClick: clickMaker({ ...clicks, onSharedAddress: sharedAddressReporter(log) }),
    vault: vaultOf(foundation),
    cookies: passwordCookies(deriveKey(instanceKey, 'password-cookie')),
    clock,
    throttles,
    trustedProxies: config.trustedProxies,
    serviceHostFor: (host) => (isServiceHost(host, serviceHost.host) ? sharedHost : undefined),
    onError: logFailure(log),
  })
}

export function openSalts({ instance, log }: Foundation): VisitorSalts {
  return new VisitorSalts({
    store: instance.store,
    clock: instance.clock,
    random: systemRandom,
    onError: (error) => log.warn({ err: error }, 'the salts of visitors wait for the store'),
  })
}

/** @throws where `TERSE_COUNTRY_DATABASE` names no such file */
export async function openCountriesOf({ countryDatabase }: Config): Promise<Countries> {
  try {
    return await openCountries(countryDatabase)
  } catch (error) {
    if (countryDatabase === undefined) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`TERSE_COUNTRY_DATABASE names no country database (${reason})`)
  }
}
