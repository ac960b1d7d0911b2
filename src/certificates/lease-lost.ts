/** Another node has leased the order, or its host no longer needs a certificate. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
