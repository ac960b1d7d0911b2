import type { CaaPermission } from '../../platform/dns/caa.ts'
import type { Finding } from './finding.ts'

/**
 * @param caa undefined where it was not looked for
 * @param authority by the name that CAA records know it by
 */
export function caaFinding(caa: CaaPermission | undefined, authority: string): Finding {
  const subject = 'caa'
  if (caa === undefined) {
    const text = 'not looked at: the authority does not say by which name it is allowed'
    return { subject, state: 'skipped', text }
  }
  switch (caa.state) {
    case 'allowed':
      return { subject, state: 'ok', text: `${authority} may issue a certificate` }
    case 'forbidden': {
      const others = caa.allowed.length === 0 ? 'nobody' : caa.allowed.join(', ')
      return {
        subject,
        state: 'problem',
        text: `the CAA records at ${caa.at} allow certificates from ${others} alone`,
        advice: `Add a CAA record at ${caa.at}: 0 issue "${authority}".`,
      }
    }
    case 'unknown':
      return {
        subject,
        state: 'warning',
        text: 'whether CAA records forbid a certificate was not answered',
      }
  }
}
