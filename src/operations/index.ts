/** What a module that reports to the doctor uses. */
export type { Finding } from './doctor/host-findings.ts'
