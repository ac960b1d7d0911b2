/** The exports of domains for other modules. */

export type { ClaimStores } from './claim.ts'
export { insertClaim, NEW_CLAIM, newClaim } from './claim.ts'
export { adviseOnOwnership, adviseOnRouting } from './dns-advice.ts'
export type { DnsObservation } from './dns-judgement.ts'
export { judgeOwnership, judgeRouting } from './dns-judgement.ts'
export type { ServiceAddresses, ServiceTarget } from './dns-records.ts'
export { type ProofPolicy, proofText, recordsFor } from './dns-records.ts'
export type { CertificateLife, CertificateStanding, Domain, DomainStatus } from './domain.ts'
export {
  type DomainSettingsService,
  presentSettings,
} from './domain-settings.ts'
export type { Domains } from './domains.ts'
export { presentDomain } from './present.ts'
export type { DomainSettings, DomainSettingsStore } from './store/domain-settings-store.ts'
export type { DomainMark, DomainStore, HstsStore } from './store/domain-store.ts'
