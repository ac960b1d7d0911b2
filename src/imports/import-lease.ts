/** How long a lease lasts after each transaction. */
export const LEASE_MICROS = 15_000_000
