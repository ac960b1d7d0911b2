import type { CaaPermission } from '../../platform/dns/caa.ts'
import type { Finding } from './finding.ts'

/**
 * @param caa undefined when it was not queried
 * @param authority the authority's name in CAA records
 */
export function caaFinding(caa: CaaPermission | undefined, authority: string): Finding {
  const subject = 'caa'
  if (caa === undefined) {
    const text = 'not checked: the authority does not publish its name for CAA records'
    return { subject, state: 'skipped', text }
  }
  switch (caa.state) {
    case 'allowed':
      return { subject, state: 'ok', text: `${authority} may issue a certificate` }
    case 'forbidden': {
      const others = caa.allowed.length === 0 ? 'no authority' : caa.allowed.join(', ')
      return {
        subject,
        state: 'problem',
        text: `the CAA records at ${caa.at} allow certificates only from ${others}`,
        advice: `Add a CAA record at ${caa.at}: 0 issue "${authority}".`,
      }
    }
    case 'unknown':
      return {
        subject,
        state: 'warning',
        text: 'DNS did not answer whether CAA records forbid a certificate',
      }
  }
}
