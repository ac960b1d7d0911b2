/** The exports of certificates for other modules. */
export { isCertifiable } from './certificate-need.ts'
