/** What other modules use of certificates. */
export { isCertifiable } from './certifiable-host.ts'
