/** The exports of certificates for other modules. */
export { isCertifiable } from './certificates.ts'
