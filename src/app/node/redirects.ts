import type { ClickRecorder } from '../../clicks/click.ts'
import { type ClickCap, clickMaker } from '../../clicks/record/click-maker.ts'
import type { Countries } from '../../clicks/record/countries.ts'
import { VisitorSalts } from '../../clicks/record/visitor-salts.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { isServiceHost } from '../../platform/http/request-target.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { LinkFinder } from '../../redirects/find-link.ts'
import { RedirectHandler } from '../../redirects/handler.ts'
import { passwordCookies } from '../../redirects/password.ts'
import { type AppContext, logUnexpected, vaultOf } from '../instance/app-context.ts'
import type { SharedAddresses } from './click-cap.ts'

export function openRedirect(
  context: AppContext,
  finder: LinkFinder,
  recorder: ClickRecorder,
  clicks: {
    readonly salts: VisitorSalts
    readonly countries: Countries
    readonly cap: ClickCap | undefined
    readonly sharedAddresses: SharedAddresses
  },
): RedirectHandler {
  const { config, instance, log, serviceHost, throttles } = context
  const { clock, instanceKey } = instance
  const sharedHost = {
    keyspaceId: serviceHost.keyspaceId,
    notFoundUrl: null,
    expiredUrl: null,
    hstsMaxAge: config.hstsSeconds === 0 ? null : config.hstsSeconds,
  }
  return new RedirectHandler({
    finder,
    recorder,
    makeClick: clickMaker({ ...clicks, onSharedAddress: clicks.sharedAddresses.report }),
    vault: vaultOf(context),
    cookies: passwordCookies(deriveKey(instanceKey, 'password-cookie')),
    clock,
    throttles,
    trustedProxies: config.trustedProxies,
    service: serviceHost,
    serviceHostFor: (host) => (isServiceHost(host, serviceHost.host) ? sharedHost : undefined),
    onError: logUnexpected(log, 'redirect'),
  })
}

export function openSalts({ instance, log }: AppContext): VisitorSalts {
  return new VisitorSalts({
    store: instance.store,
    clock: instance.clock,
    random: systemRandom,
    onError: (error) => log.warn({ err: error }, 'visitor salts unavailable'),
  })
}
