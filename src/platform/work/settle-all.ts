/**
 * As `Promise.all`, but leaves nothing under way when it fails, and fails with the first failure in the
 * order of the promises, whichever came first.
 */
export async function settleAll<const P extends readonly unknown[]>(
  promises: P,
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  const outcomes = await Promise.allSettled(promises)
  const values = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
  return values as { -readonly [I in keyof P]: Awaited<P[I]> }
}
