/** Another node has taken the work over, or the host needs no certificate any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
