/** The exports of certificates for other modules. */
export { isCertifiable } from './certifiable-host.ts'
